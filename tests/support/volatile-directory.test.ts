import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { makeVolatileDirectory } from './volatile-directory.ts'

let memory: string
let made: string | undefined

beforeEach(async () => (memory = await mkdtemp(join(tmpdir(), 'sluice-memory-'))))
afterEach(async () => {
  await rm(memory, { recursive: true })
  if (made !== undefined) await rm(made, { recursive: true, force: true })
})

test('what a killed run left is taken away, what one that goes on has stays', async () => {
  const { pid } = spawnSync(process.execPath, ['--version'])
  const ofRun = (owner: number) => `sluice-run-${userInfo().uid}-${owner}-a`
  const [left, kept, foreign] = [ofRun(pid), ofRun(process.ppid), `other-${pid}-a`]
  for (const name of [left, kept, foreign]) await mkdir(join(memory, name))
  made = await makeVolatileDirectory(memory)
  const names = await readdir(memory)
  expect(names).toEqual(expect.arrayContaining([kept, foreign]))
  expect(names).not.toContain(left)
})

test('where there is no memory to write to it is a folder of the disk', async () => {
  made = await makeVolatileDirectory(join(memory, 'nothing'))
  expect(dirname(made)).toBe(tmpdir())
})
