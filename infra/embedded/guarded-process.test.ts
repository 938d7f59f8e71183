import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeOf } from '#runtime/errors.ts'
import { startGuarded } from './guarded-process.ts'

let directory: string
let logFile: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-guarded-'))
  logFile = join(directory, 'part.log')
})

afterEach(() => rm(directory, { recursive: true, force: true }))

const shell = (script: string, stopDeadlineMs = 5000) => ({
  command: '/bin/sh',
  args: ['-c', script],
  logFile,
  stopDeadlineMs,
})

test('captures the output in the log, and how it exited', async () => {
  const { exited } = await startGuarded(shell('echo out; echo err >&2; exit 3'))
  expect(await exited).toEqual({ code: 3, signal: null })
  expect((await readFile(logFile, 'utf8')).split('\n').sort()).toEqual(['', 'err', 'out'])
})

test('stop sends a signal first, so that the process can clean up', async () => {
  const part = await startGuarded(
    shell('trap "echo orderly; exit 0" TERM; echo ready; while :; do sleep 0.05; done'),
  )
  await logged('ready')
  await Promise.all([part.stop(), part.stop()])
  expect(await part.exited).toEqual({ code: 0, signal: null })
  await logged('orderly')
})

test('a process that does not stop is killed after its deadline', async () => {
  const part = await startGuarded(shell('trap "" TERM; echo ready; while :; do sleep 0.05; done', 200))
  await logged('ready')
  await part.stop()
  expect(await part.exited).toEqual({ code: null, signal: 'SIGKILL' })
})

test('names a missing command, also if PATH has a folder that is closed to this user', async () => {
  const missing = { command: 'no-such-command', args: [], logFile }
  await writeFile(join(directory, missing.command), '')
  for (const env of [process.env, { PATH: directory }])
    await expect(startGuarded({ ...missing, env })).rejects.toThrow(
      'The command no-such-command is not installed.',
    )
  // It exists and is reported as such: this user may not run it.
  const closed = join(directory, missing.command)
  await expect(startGuarded({ ...missing, command: closed })).rejects.toThrow('EACCES')
})

test('if its parent is killed, the process and its children end too', async () => {
  const owner = spawn(process.execPath, ['--input-type=module', '-e', ownerProgram()], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [first] = (await once(owner.stdout, 'data')) as [Buffer]
  const pid = Number(first.toString())
  await logged('ready')
  owner.kill('SIGKILL')
  await until(() => !groupExists(pid))
})

function ownerProgram(): string {
  const plan = JSON.stringify(shell('sleep 60 & echo ready; wait'))
  return `
    import { startGuarded } from ${JSON.stringify(join(import.meta.dirname, 'guarded-process.ts'))}
    const { pid } = await startGuarded(${plan})
    console.log(pid)
    setInterval(() => {}, 1000)`
}

const logged = (word: string) =>
  until(async () => (await readFile(logFile, 'utf8').catch(() => '')).includes(word))

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10))
}

function groupExists(pid: number): boolean {
  try {
    process.kill(-pid, 0)
    return true
  } catch (error) {
    expect(codeOf(error)).toBe('ESRCH')
    return false
  }
}
