import { createSecretKey, type KeyObject } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import { contentDays } from '#schemas/content-retention.ts'
import { until } from '#tests/support/until.ts'
import { eraseAfterMs } from './erase-bodies.ts'
import { segmentHeader } from './segment-format.ts'
import { segmentName } from './segment.ts'
import type { SpoolOptions } from './spool-options.ts'
import { Spool } from './spool.ts'

const key = createSecretKey(Buffer.alloc(32, 3))
/** Two frames of one record, then one frame of two. */
const records = [150_000, 150_000, 30_000, 30_000].map((size, index) => `${index}:${'x'.repeat(size)}`)
let directory: string
let lost: [string, number][]
let names = 0

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-foreign-'))
  lost = []
})
afterEach(() => rm(directory, { recursive: true }))

async function openSpool(key: KeyObject | undefined, options: Partial<SpoolOptions> = {}): Promise<Spool> {
  const spool = new Spool({
    directory,
    name: `f${names++}`,
    key,
    maxBytes: 500_000,
    maxAsideBytes: 64 * 1024 * 1024,
    maxWaitingBytes: 1_000_000,
    stripBodies: (record) => record,
    now: Date.now,
    log: createLog('spool-test', 'silent'),
    onLost: (reason, count) => lost.push([reason, count]),
    ...options,
  })
  await spool.open()
  return spool
}

async function drain(spool: Spool): Promise<string[]> {
  const batch = await spool.take(100, 1_000_000)
  if (batch === undefined) return []
  await spool.acknowledge(batch)
  return [...batch.records.map(String), ...(await drain(spool))]
}

async function append(spool: Spool, texts: readonly string[], isEphemeral = false): Promise<void> {
  await Promise.all(texts.map((text) => spool.append(Buffer.from(text), isEphemeral)))
}

/** A spool that a gateway with `key` leaves unsent. */
async function leave(isEphemeral = false): Promise<void> {
  const spool = await openSpool(key)
  await append(spool, records, isEphemeral)
  await spool.close()
}

test.each([
  ['another key', createSecretKey(Buffer.alloc(32, 4))],
  ['no key', undefined],
])(
  '%s: what waits is kept and said, nothing is stuck behind it, and the right key sends it',
  async (_, other) => {
    await leave()
    const spool = await openSpool(other)
    await append(spool, ['new'])
    expect(await drain(spool)).toEqual(['new'])
    expect(spool.depth()).toMatchObject({ records: 4, foreignRecords: 4 })
    expect(spool.problem()).toMatch(/^4 records are encrypted with another SPOOL_KEY/)
    await spool.close()
    const next = await openSpool(key)
    expect(await drain(next)).toEqual(records)
    expect(next.problem()).toBeNull()
    expect(lost).toEqual([])
    await next.close()
  },
)

test('what cannot be opened makes room for what is new, counted', async () => {
  await leave()
  const spool = await openSpool(undefined)
  await append(spool, records.slice(0, 2))
  expect(await drain(spool)).toEqual(records.slice(0, 2))
  expect(lost).toEqual([['spool_full', 4]])
  expect(spool.problem()).toBeNull()
  await spool.close()
})

test('of a project that keeps no content it goes after an hour, counted', async () => {
  await leave(true)
  const spool = await openSpool(undefined, { tickMs: 10, now: () => Date.now() + eraseAfterMs })
  await until(() => spool.isDue())
  expect(await drain(spool)).toEqual([])
  expect(lost).toEqual([['unreadable', 4]])
  await spool.close()
  expect(await readdir(directory)).toEqual([])
})

test('of another version: the oldest make room, and what may not be kept goes after an hour or 90 days, counted', async () => {
  const aside = join(directory, 'set-aside')
  await mkdir(aside)
  const now = Date.now()
  const put = (begunMs: number, isEphemeral = false) => {
    const bytes = Buffer.concat([segmentHeader(), Buffer.alloc(1_000)])
    bytes[4] = 9
    return writeFile(join(aside, segmentName(begunMs, `${begunMs}`, isEphemeral)), bytes)
  }
  for (const age of [5, 4, 3, 2, 1]) await put(now - age)
  await writeFile(join(aside, `${segmentName(now - 5, `${now - 5}`)}.sent`), '8')
  await put(now - eraseAfterMs, true)
  await put(now - eraseAfterMs + 60_000, true)
  await put(now - contentDays * 86_400_000)
  const spool = await openSpool(key, { maxAsideBytes: 3_500, now: () => now })
  const left = await readdir(aside)
  expect(left.sort()).toEqual([3, 2, 1].map((age) => segmentName(now - age, `${now - age}`)))
  expect(lost.toSorted()).toEqual([
    ['spool_full', 1],
    ['spool_full', 1],
    ['spool_full', 1],
    ['unreadable', 1],
    ['unreadable', 1],
  ])
  expect(spool.depth()).toMatchObject({ bytes: 0, asideBytes: 3 * 1_008 })
  expect(spool.problem()).toBe('3 segments of another version lie in set-aside/')
  await spool.close()
})

test('of another version: one that the disk does not let go keeps nothing else from being adopted or bounded', async () => {
  await leave()
  const now = Date.now()
  const [younger, older] = [1, 2].map((age) =>
    join(directory, 'set-aside', segmentName(now - age, `${now - age}`)),
  )
  // A directory can be neither read nor removed as a file.
  await mkdir(younger as string, { recursive: true })
  await writeFile(older as string, Buffer.concat([segmentHeader(), Buffer.alloc(1_000)]).fill(9, 4, 5))
  const spool = await openSpool(key, { maxAsideBytes: 0 })
  expect(await drain(spool)).toEqual(records)
  expect(spool.problem()).toMatch(/^folders of ended gateways cannot be adopted/)
  expect(await readdir(join(directory, 'set-aside'))).toEqual([segmentName(now - 1, `${now - 1}`)])
  await spool.close()
})

test.each([
  ['of a clock that was not set', segmentName(42, 'a')],
  ['that is none', 'a-copy.segment'],
])(
  'of another version: a name with a time %s is as old as its file, and stays an hour at least',
  async (_, name) => {
    const aside = join(directory, 'set-aside')
    await mkdir(aside)
    const path = join(aside, name)
    await writeFile(path, Buffer.concat([segmentHeader(), Buffer.alloc(1_000)]).fill(9, 4, 5))
    let nowMs = Date.now()
    const spool = await openSpool(key, { tickMs: 10, now: () => nowMs })
    expect([await readdir(aside), lost]).toEqual([[name], []])
    nowMs += contentDays * 86_400_000
    await until(() => spool.isDue())
    await drain(spool)
    expect([await readdir(aside), lost]).toEqual([[], [['unreadable', 1]]])
    await spool.close()
    await writeFile(path, Buffer.concat([segmentHeader(), Buffer.alloc(1_000)]).fill(9, 4, 5))
    const next = await openSpool(key, { now: () => nowMs })
    expect([await readdir(aside), lost.length]).toEqual([[name], 1])
    await next.close()
  },
)
