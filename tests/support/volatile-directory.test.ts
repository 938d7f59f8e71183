import { spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { makeVolatileDirectory } from './volatile-directory.ts'

let memory: string
let made: string[]

beforeEach(async () => {
  memory = await mkdtemp(join(tmpdir(), 'sluice-memory-'))
  made = []
})
afterEach(async () => {
  await chmod(memory, 0o700)
  for (const left of [memory, ...made]) await rm(left, { recursive: true, force: true })
})

test("removes what a killed run left, but not folders of running or other containers' processes", async () => {
  const { pid } = spawnSync(process.execPath, ['--version'])
  const first = await makeVolatileDirectory(memory)
  const ofRun = (owner: number) => basename(first).replace(`-${process.pid}-`, `-${owner}-`)
  const elsewhere = `sluice-run-${process.getuid?.() ?? 0}-${pid}-${pid}-a`
  const [left, kept] = [ofRun(pid), [ofRun(process.ppid), elsewhere, `other-${pid}-a`]]
  for (const name of [left, ...kept]) await mkdir(join(memory, name))
  made = [first, await makeVolatileDirectory(memory)]
  const names = await readdir(memory)
  expect(names).toEqual(expect.arrayContaining(kept))
  expect(names).not.toContain(left)
})

test('without writable memory, uses a folder on disk', async () => {
  const directory = await makeVolatileDirectory(join(memory, 'nothing'))
  made = [directory]
  expect(dirname(directory)).toBe(tmpdir())
})

test.each([
  ['written to', 0o555],
  ['listed', 0o333],
])(
  'where the memory may not be %s it is a folder of the disk, also for a user without a name',
  async (_, mode) => {
    await chmod(memory, mode)
    // Root may do everything, so it changes its user after reading the file.
    const program = `
    const { makeVolatileDirectory } = await import(process.argv[1])
    if (process.getuid() === 0) { process.setgid(54321); process.setuid(54321) }
    process.stdout.write(await makeVolatileDirectory(process.argv[2]))`
    const file = join(import.meta.dirname, 'volatile-directory.ts')
    const args = ['--input-type=module', '--eval', program, file, memory]
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect(stderr).toBe('')
    made = [stdout]
    expect(dirname(stdout)).toBe(tmpdir())
  },
)
