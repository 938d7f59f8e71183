import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '#tests/support/until.ts'
import { awaitReady, type Readiness } from './await-ready.ts'
import { startGuarded, type GuardedProcess } from './guarded-process.ts'
import { measureWork } from './measure-work.ts'

let directory: string
let logFile: string
let running: GuardedProcess

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-ready-'))
  logFile = join(directory, 'part.log')
})

afterEach(async () => {
  await running.stop()
  await rm(directory, { recursive: true, force: true })
})

async function start(script: string, probe: () => Promise<unknown>, more: Partial<Readiness> = {}) {
  running = await startGuarded({ command: '/bin/sh', args: ['-c', script], logFile, stopDeadlineMs: 1_000 })
  return awaitReady({ name: 'The part', probe, process: running, logFile, patienceMs: 1_000, ...more })
}

const notYet = () => Promise.reject(new Error('not yet'))

test('a working process has no deadline: a broker may read its log as long as necessary', async () => {
  let probes = 0
  const began = performance.now()
  const recovering = async () => {
    await appendFile(logFile, `Recovering unflushed segment ${++probes}\n`)
    if (performance.now() - began < 3_000) await notYet()
  }
  await start('sleep 60', recovering)
  expect(probes).toBeGreaterThan(1)
})

test('an idle process is given up, with its last answer and output', async () => {
  const given = start('echo booting; sleep 60', notYet)
  await expect(given).rejects.toThrow(
    `The part is not ready (not yet) and did nothing for 1 s; the end of ${logFile} says:\n  booting`,
  )
})

test('log lines about waiting for others are not work', async () => {
  const complaining = async () => {
    await appendFile(logFile, 'Kafka does not answer\n')
    await notYet()
  }
  const given = start('sleep 60', complaining, { logCounts: false })
  await expect(given).rejects.toThrow('did nothing for 1 s')
})

test('does not wait for a process that exited, nor after an abort', async () => {
  await expect(start('echo no memory; exit 1', notYet)).rejects.toThrow(
    /^The part ended while starting; .*:\n {2}no memory$/,
  )
  const stopping = new AbortController()
  const asked = async () => {
    stopping.abort(new Error('stopping'))
    await notYet()
  }
  await expect(start('sleep 60', asked, { signal: stopping.signal })).rejects.toThrow('stopping')
})

test('work includes that of child processes', async () => {
  running = await startGuarded({
    command: '/bin/sh',
    args: ['-c', '(while :; do :; done) & wait'],
    logFile,
    stopDeadlineMs: 1_000,
  })
  await until(async () => (await measureWork(running.pid, logFile)).cpuMs >= 50)
  expect((await measureWork(2 ** 30, logFile)).cpuMs).toBe(0)
})
