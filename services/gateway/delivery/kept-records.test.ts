import { createSecretKey, type KeyObject } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import { contentDays } from '#schemas/content-retention.ts'
import { newId } from '#schemas/ids.ts'
import { eraseAfterMs, type StripBodies } from '../spool/erase-bodies.ts'
import { encodeFrames, segmentHeader } from '../spool/segment-format.ts'
import { createKeptRecords } from './kept-records.ts'

// Some take over 30 s beside two other test runs on two cores.
jest.setTimeout(120_000)

let directory: string
let lost: string[]
let nowMs = 0

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-kept-'))
  lost = []
})
afterEach(() => rm(directory, { recursive: true }))

const keptBy = (maxBytes = 1024 * 1024, key?: KeyObject, stripBodies: StripBodies = (bytes) => bytes) =>
  createKeptRecords({
    directory,
    key,
    maxBytes,
    stripBodies,
    now: () => nowMs++,
    log: createLog('kept-test', 'silent'),
    onLost: (reason) => lost.push(reason),
  })
const record = (id: string) => Buffer.from(`{"id":"${id}"}`.padEnd(200))

async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder)
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

test("workers that share a folder get in nobody's way: every record is given back, or makes room once", async () => {
  const ids = Array.from({ length: 30 }, (_, n) => `r${n}`)
  const workers = [keptBy(1_000), keptBy(1_000), keptBy(1_000)] as const
  await Promise.all(ids.map((id, index) => workers[(index % 3) as 0 | 1 | 2].keep(record(id), id, false)))
  expect(lost).toEqual(Array(ids.length - (await readdir(directory)).length).fill('parked_full'))
  const seen = new Set<string>()
  const take = (bytes: Buffer) => {
    seen.add(bytes.toString())
    return Promise.resolve(true)
  }
  const left = (await readdir(directory)).length
  await Promise.all(workers.map((worker) => worker.release(take)))
  expect(seen.size).toBe(left)
  expect(await readdir(directory)).toEqual([])
})

test('the folder stays below its bound, the oldest make room', async () => {
  const kept = keptBy(64_000)
  const ids = Array.from({ length: 600 }, (_, n) => `r${String(n).padStart(3, '0')}`)
  for (const id of ids) {
    await kept.keep(record(id), id, false)
    if (Number(id.slice(1)) % 50 === 0) expect(await bytesIn(directory)).toBeLessThanOrEqual(64_000)
  }
  const left = (await readdir(directory)).sort()
  expect(lost).toHaveLength(ids.length - left.length)
  expect(await bytesIn(directory)).toBeGreaterThan(64_000 * 0.9)
  // The latest records remain.
  expect(left.at(0)).toContain(ids[ids.length - left.length])
})

test('one that cannot be read leaves the others', async () => {
  const kept = keptBy()
  await kept.keep(record('a'), 'a', false)
  await mkdir(join(directory, '000000000000000-bad.segment'))
  const seen: string[] = []
  await kept.release((bytes) => Promise.resolve(seen.push(bytes.toString().trim()) > 0))
  expect(seen).toEqual(['{"id":"a"}'])
})

test('one that is gone in the middle leaves the others', async () => {
  const kept = keptBy()
  for (const id of ['a', 'b', 'c']) await kept.keep(record(id), id, false)
  const seen: string[] = []
  await kept.release(async (bytes) => {
    seen.push(bytes.toString().trim())
    const [, second = ''] = (await readdir(directory)).sort()
    if (seen.length === 1) await rm(join(directory, second))
    return true
  })
  expect(seen).toEqual(['{"id":"a"}', '{"id":"c"}'])
})

test('one under another key stays for a gateway that has it; of a project that keeps no content for an hour, counted', async () => {
  const kept = keptBy(1_000, createSecretKey(Buffer.alloc(32, 1)))
  await kept.keep(record('a'), 'a', false)
  await kept.keep(record('b'), 'b', true)
  const other = keptBy()
  await other.release(() => Promise.reject(new Error('it was opened')))
  await other.eraseAged()
  expect([await readdir(directory), lost]).toEqual([[expect.any(String), expect.any(String)], []])
  nowMs += eraseAfterMs
  await other.eraseAged()
  expect(lost).toEqual(['unreadable'])
  const seen: string[] = []
  await kept.release((bytes) => Promise.resolve(seen.push(bytes.toString().trim()) > 0))
  expect(seen).toEqual(['{"id":"a"}'])
})

test('one that a host whose clock is ahead has written half is left to it', async () => {
  const kept = keptBy()
  nowMs += eraseAfterMs
  await kept.keep(record('a'), 'a', true)
  const [name = ''] = await readdir(directory)
  const path = join(directory, name)
  await truncate(path, 100)
  nowMs -= eraseAfterMs
  await kept.eraseAged()
  expect([await readdir(directory), lost]).toEqual([[name], []])
  nowMs += 2 * eraseAfterMs
  await kept.eraseAged()
  expect([await readdir(directory), lost]).toEqual([[], ['unreadable']])
})

test('what a gateway left that was killed while it erased goes, and no record with it', async () => {
  const kept = keptBy()
  await kept.keep(record('a'), 'a', true)
  const [name = ''] = await readdir(directory)
  await writeFile(join(directory, name.replace('.ephemeral', '') + '.new'), 'torn')
  await kept.eraseAged()
  expect(await readdir(directory)).toEqual([name])
  await rm(directory, { recursive: true })
  await kept.eraseAged()
  await mkdir(directory)
})

test('one that cannot be stripped of its bodies goes after its hour, counted', async () => {
  const kept = keptBy(1_000, undefined, () => undefined)
  await kept.keep(record('a'), 'a', true)
  nowMs += eraseAfterMs
  await kept.eraseAged()
  expect([await readdir(directory), lost]).toEqual([[], ['unreadable']])
})

test('what has been kept for 90 days is removed and counted, even if still wanted; a record that was given back and kept again is as old as it was', async () => {
  const dayMs = 86_400_000
  nowMs = Date.now()
  const kept = keptBy()
  const old = newId('request', nowMs)
  await kept.keep(record(old), old, false)
  await kept.keep(record('a'), 'a', false)
  nowMs += (contentDays - 1) * dayMs
  await kept.eraseAged()
  expect(lost).toEqual([])
  await kept.release((bytes) => Promise.resolve(bytes.includes(old)))
  await kept.keep(record(old), old, false)
  await kept.keep(record('b'), 'b', false)
  nowMs += dayMs
  await kept.eraseAged()
  expect(lost).toEqual(['parked_expired', 'parked_expired'])
  expect(await readdir(directory)).toEqual([expect.stringContaining('-b.segment')])
})

test('a name that says no time is as old as its file', async () => {
  const path = join(directory, 'a-copy.segment')
  await writeFile(path, 'anything')
  nowMs = Date.now()
  const kept = keptBy()
  await kept.eraseAged()
  expect(lost).toEqual([])
  nowMs += contentDays * 86_400_000
  await kept.eraseAged()
  expect([await readdir(directory), lost]).toEqual([[], ['parked_expired']])
})

test.each([
  ['of a clock that was not set', '000000000000042-a.segment'],
  ['of a clock that was not set, also in its record', `000000000000042-${newId('request', 42)}.segment`],
  ['that is none', 'a-copy.segment'],
])(
  'a name with a time %s is as old as its file, and stays an hour from when it was first seen',
  async (_, name) => {
    const path = join(directory, name)
    const dayMs = 86_400_000
    nowMs = Date.now()
    await writeFile(path, 'anything')
    const kept = keptBy()
    await kept.eraseAged()
    await utimes(path, 0, (nowMs - contentDays * dayMs) / 1_000)
    await kept.eraseAged()
    expect([await readdir(directory), lost]).toEqual([[name], []])
    nowMs += 3_600_000
    await kept.eraseAged()
    expect([await readdir(directory), lost]).toEqual([[], ['parked_expired']])
  },
)

test('a file that bears no time at all is as old as it is known to be, by whichever gateway', async () => {
  const path = join(directory, '000000000000042-a.segment')
  nowMs = Date.now()
  await writeFile(path, 'anything')
  await utimes(path, 42, 42)
  await keptBy().eraseAged()
  nowMs += (contentDays - 1) * 86_400_000
  const next = keptBy()
  await next.eraseAged()
  nowMs += 86_400_000
  expect(lost).toEqual([])
  await next.eraseAged()
  expect([await readdir(directory), lost]).toEqual([[], ['parked_expired']])
})

test('of a project that keeps no content it loses its bodies an hour after its file says, or at once where that says nothing', async () => {
  nowMs = Date.now()
  const kept = keptBy()
  const [said, unsaid] = ['said', 'unsaid'].map((id) => `000000000000042-${id}.ephemeral.segment`)
  const frame = Buffer.concat([segmentHeader(), encodeFrames([record('a')], undefined)])
  for (const name of [said, unsaid]) await writeFile(join(directory, String(name)), frame)
  await utimes(join(directory, String(unsaid)), 42, 42)
  await kept.eraseAged()
  expect((await readdir(directory)).sort()).toEqual([said, '000000000000042-unsaid.segment'])
  nowMs += eraseAfterMs + 60_000
  await kept.eraseAged()
  expect((await readdir(directory)).sort()).toEqual([
    '000000000000042-said.segment',
    '000000000000042-unsaid.segment',
  ])
  expect(lost).toEqual([])
})
