import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { appendFile, mkdtemp, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { obtainSecrets } from './secrets.ts'
import { assertNotRunning, identityOf, isAlive, writeRecord } from './stack-record.ts'
import { cutLogs, openState, readJson, rotateLog, writeJson } from './state-directory.ts'

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-state-'))
})

afterEach(() => rm(directory, { recursive: true, force: true }))

test('a state directory can be opened again by the version that made it', async () => {
  await openState(directory)
  const paths = await openState(directory)
  expect((await stat(paths.spool)).mode & 0o777).toBe(0o700)
})

test('a state directory of a newer version is refused in a sentence that says what to do', async () => {
  await writeFile(join(directory, 'version'), '2\n')
  await expect(openState(directory)).rejects.toThrow('written by a newer version of Sluice (state version 2')
})

test('files with keys in them can be read by their owner only, also when they were there before', async () => {
  const file = join(directory, 'connection.json')
  await writeFile(file, '{}', { mode: 0o644 })
  await writeJson(file, { api_key: 'secret' })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readJson(file)).toEqual({ api_key: 'secret' })
})

test('a damaged file is named, a missing one is undefined', async () => {
  const file = join(directory, 'secrets.json')
  expect(await readJson(file)).toBeUndefined()
  await writeFile(file, '{"half": ')
  await expect(readJson(file)).rejects.toThrow(`${file} is damaged`)
})

test('secrets are made once and stay; what the environment gives is used and not kept', async () => {
  const file = join(directory, 'secrets.json')
  const first = await obtainSecrets(file, {})
  expect(Buffer.from(first.SPOOL_KEY, 'base64')).toHaveLength(32)
  expect(Buffer.from(first.BODY_ENCRYPTION_KEYS.replace(/^k1:/, ''), 'base64')).toHaveLength(32)
  const given = join(directory, 'given')
  await writeFile(given, 'from a file\n')
  const second = await obtainSecrets(file, {
    PROXY_API_KEY: 'mine',
    INTERNAL_API_SECRET_FILE: given,
    SPOOL_KEY: '',
  })
  expect(second).toEqual({ ...first, PROXY_API_KEY: 'mine', INTERNAL_API_SECRET: 'from a file' })
  expect(await obtainSecrets(file, {})).toEqual(first)
  const both = { PROXY_API_KEY: 'mine', PROXY_API_KEY_FILE: given }
  await expect(obtainSecrets(file, both)).rejects.toThrow('PROXY_API_KEY and PROXY_API_KEY_FILE are both set')
})

test('a log is set aside only when it has grown large', async () => {
  const file = join(directory, 'sink.log')
  await rotateLog(file)
  await writeFile(file, 'small')
  await rotateLog(file)
  expect(await readFile(file, 'utf8')).toBe('small')
  await truncate(file, 33 * 1024 * 1024)
  await rotateLog(file)
  await expect(stat(file)).rejects.toThrow('ENOENT')
  expect((await stat(`${file}.1`)).size).toBe(33 * 1024 * 1024)
})

test('a large log that is being written to is cut: its lines are beside it, and its writer goes on at the beginning', async () => {
  const file = join(directory, 'sink.log')
  const writer = await open(file, 'a')
  await writer.write('first\n')
  await cutLogs(directory, 100)
  expect(await readFile(file, 'utf8')).toBe('first\n')
  await cutLogs(directory, 6)
  await writer.write('second\n')
  await writer.close()
  expect(await readFile(`${file}.1`, 'utf8')).toBe('first\n')
  expect(await readFile(file, 'utf8')).toBe('second\n')
})

test('of a log that is cut the last 32 MiB are kept, and nothing of what was kept before', async () => {
  const file = join(directory, 'sink.log')
  await writeFile(`${file}.1`, 'before')
  await writeFile(file, '')
  await truncate(file, 33 * 1024 * 1024)
  await appendFile(file, 'last\n')
  await cutLogs(directory, 6)
  const kept = await readFile(`${file}.1`)
  expect(kept.length).toBe(32 * 1024 * 1024)
  expect(kept.toString('utf8', kept.length - 6)).toBe('\0last\n')
  expect((await stat(file)).size).toBe(0)
})

test('on a full disk a log is cut too, and what there is room for is kept', async () => {
  const file = join(directory, 'sink.log')
  await writeFile(`${file}.1`, 'before')
  await writeFile(file, 'first\nlast\n')
  await cutLogs(directory, 6, () => Promise.resolve(10))
  expect(await readFile(`${file}.1`, 'utf8')).toBe('last\n')
  expect((await stat(file)).size).toBe(0)
  await writeFile(file, 'first\nlast\n')
  await cutLogs(directory, 6, () => Promise.resolve(0))
  await expect(stat(`${file}.1`)).rejects.toThrow('ENOENT')
  expect((await stat(file)).size).toBe(0)
})

test('a second start on the directory of a running one is refused, that of one that died is not', async () => {
  const file = join(directory, 'processes.json')
  const record = { portOffset: 0, phase: 'ready' as const, processes: [] }
  const here = { pid: process.pid, identity: identityOf(process.pid) }
  expect(isAlive(here)).toBe(true)
  await writeRecord(file, { ...record, supervisor: here })
  await expect(assertNotRunning(file, directory)).rejects.toThrow(`already runs on ${directory}`)
  // The same id, since reused by another process.
  await writeRecord(file, { ...record, supervisor: { pid: process.pid, identity: '1' } })
  await expect(assertNotRunning(file, directory)).resolves.toBeUndefined()
})
