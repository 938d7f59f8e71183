import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { until } from '#tests/support/until.ts'
import { findRunningStack } from './find-running-stack.ts'
import { identityOf, writeRecord, type StackRecord } from './stack-record.ts'
import { statePaths, writeJson } from './state-directory.ts'

let directory: string
const said: string[] = []
const find = () => findRunningStack(directory, (line) => said.push(line))

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-running-'))
  said.length = 0
  await writeJson(statePaths(directory).connection, {
    base_url: 'http://127.0.0.1:48000',
    proxy_url: 'http://127.0.0.1:48080',
    dashboard_url: 'http://localhost:43000',
    kafka_brokers: '127.0.0.1:49092',
    schema_registry_url: 'http://127.0.0.1:48085/apis/ccompat/v7',
    database_url: 'postgres://sluice:secret@127.0.0.1:45433/sluice',
  })
})

afterEach(() => rm(directory, { recursive: true, force: true }))

async function record(phase: StackRecord['phase'], supervisor: Partial<StackRecord['supervisor']> = {}) {
  const pid = supervisor.pid ?? process.pid
  const whole = { pid, identity: supervisor.identity ?? identityOf(pid) }
  await writeRecord(statePaths(directory).record, { supervisor: whole, portOffset: 0, phase, processes: [] })
}

test('a stack that runs is named with its addresses, and without its password', async () => {
  await record('ready')
  const text = await find()
  expect(text).toMatch(`Sluice already runs on ${directory} (process ${process.pid}).`)
  for (const address of [
    'http://localhost:43000',
    'http://127.0.0.1:48080',
    'http://127.0.0.1:48000',
    '127.0.0.1:49092',
  ])
    expect(text).toContain(address)
  expect(text).not.toContain('secret@')
})

test('no record, and one that a killed supervisor left behind, are no stack that runs', async () => {
  expect(await find()).toBeUndefined()
  await record('ready', { identity: 'of an earlier process with this number' })
  expect(await find()).toBeUndefined()
})

test('one that another command is starting is waited for', async () => {
  await record('starting')
  const found = find()
  await until(() => said.length > 0)
  await record('ready')
  expect(await found).toMatch('already runs')
  expect(said).toEqual([expect.stringContaining(`is being started by process ${process.pid}`)])
})

test('one that ends before it is up, or is stopping, is told in a sentence', async () => {
  const child = spawn('sleep', ['60'])
  await record('starting', { pid: child.pid ?? 0 })
  const found = find()
  const refused = expect(found).rejects.toThrow(
    `was not started: process ${child.pid} ended; run this again.`,
  )
  await until(() => said.length > 0)
  child.kill('SIGKILL')
  await refused
  await record('stopping')
  await expect(find()).rejects.toThrow(`is being stopped by process ${process.pid}; run this again.`)
})
