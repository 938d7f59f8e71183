import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeOf } from '#runtime/errors.ts'
import { startGuarded } from '#infra/embedded/guarded-process.ts'
import { until } from '#tests/support/until.ts'
import { superviseProcess, type ProcessToSupervise, type SupervisedProcess } from './supervise-process.ts'

let directory: string
let supervised: SupervisedProcess | undefined
const said: string[] = []

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-supervise-'))
  said.length = 0
})

afterEach(async () => {
  await supervised?.stop()
  supervised = undefined
  await rm(directory, { recursive: true, force: true })
})

/** A shell script as the process; each start appends a line to `starts`. */
function plan(
  script: string,
  wellAfterMs = 60_000,
): ProcessToSupervise & { until: (what: () => boolean) => Promise<void> } {
  const logFile = join(directory, 'part.log')
  const waiting: { what: () => boolean; resolve: () => void }[] = []
  const look = () => {
    for (const { what, resolve } of waiting) if (what()) resolve()
  }
  return {
    name: 'part',
    logFile,
    backoff: { firstMs: 20, longestMs: 80, wellAfterMs },
    start: async () => {
      const args = ['-c', `echo started >> ${directory}/starts; ${script}`]
      const started = await startGuarded({ command: '/bin/sh', args, logFile })
      return { ...started, ready: Promise.resolve() }
    },
    say: (line) => {
      said.push(line)
      look()
    },
    changed: () => setImmediate(look),
    until: (what) => new Promise((resolve) => waiting.push({ what, resolve })),
  }
}

const starts = async () => (await readFile(join(directory, 'starts'), 'utf8')).trim().split('\n').length
const delays = () => said.flatMap((line) => /restart in ([\d.]+) s/.exec(line)?.[1] ?? []).map(Number)

test('a process that dies is named with the last lines of its log and started again', async () => {
  const part = plan(
    `test -f ${directory}/second && exec sleep 60; touch ${directory}/second; echo boom; exit 7`,
  )
  supervised = await superviseProcess(part)
  await part.until(() => supervised?.status().state === 'up' && supervised.status().restarts === 1)
  expect(said[0]).toContain('part ended (exit code 7)')
  expect(said[0]).toContain('boom')
  expect(await starts()).toBe(2)
})

test('a process whose log has grown for days, to more than a string can hold, is started again like any other', async () => {
  const log = `${directory}/part.log`
  const part = plan(
    `test -f ${directory}/second && exec sleep 60; touch ${directory}/second; truncate -s 600M ${log}; echo; echo boom; exit 7`,
  )
  supervised = await superviseProcess(part)
  await part.until(() => supervised?.status().state === 'up' && supervised.status().restarts === 1)
  expect(said[0]).toMatch(/\n {2}boom$/)
  expect(supervised.status().endedAt).toHaveLength(1)
})

test('the delay doubles from failure to failure up to the longest', async () => {
  const part = plan('exit 1')
  supervised = await superviseProcess(part)
  await part.until(() => delays().length >= 5)
  expect(delays().slice(0, 5)).toEqual([0.02, 0.04, 0.08, 0.08, 0.08])
})

test('a process that ran well for long enough starts again with the shortest delay', async () => {
  const part = plan('exit 1', 0)
  supervised = await superviseProcess(part)
  await part.until(() => delays().length >= 3)
  expect(delays().slice(0, 3)).toEqual([0.02, 0.02, 0.02])
})

test('a process that is stopped stays stopped, with everything it started', async () => {
  await writeFile(join(directory, 'child.sh'), `sleep 60 & echo $! > ${directory}/child; wait`)
  const part = plan(`sh ${directory}/child.sh`)
  supervised = await superviseProcess(part)
  const child = await readWhenThere(join(directory, 'child'))
  await supervised.stop()
  expect(supervised.status().state).toBe('stopped')
  await gone(Number(child))
  expect(await starts()).toBe(1)
})

test('stopping while it waits for a restart ends the wait', async () => {
  const part = { ...plan('exit 1'), backoff: { firstMs: 600_000, longestMs: 600_000, wellAfterMs: 60_000 } }
  supervised = await superviseProcess(part)
  await part.until(() => said.length > 0)
  await supervised.stop()
  expect(await starts()).toBe(1)
})

test('stopping while it is being started again ends that too, however long it would take', async () => {
  const part = plan('exit 1')
  let isRestarting = false
  const start = async (signal: AbortSignal) => {
    if (!isRestarting && said.length === 0) return part.start(signal)
    isRestarting = true
    return await new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('not wanted any more')))
    })
  }
  supervised = await superviseProcess({ ...part, start })
  await until(() => isRestarting)
  await supervised.stop()
  expect(said).toHaveLength(1)
})

test('a first start that does not become ready is an error and leaves nothing running', async () => {
  const part = plan('exec sleep 60')
  let pid = 0
  const start = async (signal: AbortSignal) => {
    const started = await part.start(signal)
    pid = started.pid
    return { ...started, ready: Promise.reject(new Error('never ready')) }
  }
  await expect(superviseProcess({ ...part, start })).rejects.toThrow('never ready')
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})

async function readWhenThere(file: string): Promise<string> {
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => '')
    if (text !== '') return text.trim()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** A killed orphan stays in the process table until process 1 has reaped it. */
async function gone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0)
    } catch (error) {
      expect(codeOf(error)).toBe('ESRCH')
      return
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
}
