import { createSecretKey } from 'node:crypto'
import { appendFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import { until } from '#tests/support/until.ts'
import { encodeFrames, segmentHeader } from './segment-format.ts'
import { segmentName } from './segment.ts'
import type { SpoolOptions } from './spool-options.ts'
import { Spool } from './spool.ts'

let directory: string
let lost: [string, number][]
const key = createSecretKey(Buffer.alloc(32, 3))
let names = 0

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-spool-'))
  lost = []
})
afterEach(() => rm(directory, { recursive: true }))

async function openSpool(options: Partial<SpoolOptions> = {}): Promise<Spool> {
  const spool = new Spool({
    directory,
    name: `t${names++}`,
    key,
    maxBytes: 64 * 1024 * 1024,
    maxAsideBytes: 64 * 1024 * 1024,
    maxWaitingBytes: 64 * 1024 * 1024,
    stripBodies: (record) => record,
    now: Date.now,
    log: createLog('spool-test', 'silent'),
    onLost: (reason, records) => lost.push([reason, records]),
    ...options,
  })
  await spool.open()
  return spool
}

/** Takes and acknowledges everything. */
async function drain(spool: Spool, maxRecords = 100): Promise<string[]> {
  const seen: string[] = []
  for (;;) {
    const batch = await spool.take(maxRecords, 1024 * 1024)
    if (batch === undefined) return seen
    seen.push(...batch.records.map(String))
    await spool.acknowledge(batch)
  }
}

const append = (spool: Spool, ...records: string[]) =>
  Promise.all(records.map((record) => spool.append(Buffer.from(record))))
const numbered = (count: number, size = 0) =>
  Array.from({ length: count }, (_, n) => `${n}:${'x'.repeat(size)}`)

/** What a process that was killed leaves: a folder, its segments, no one who owns it. */
async function leftBehind(
  name: string,
  records: readonly string[],
  tail: Buffer = Buffer.alloc(0),
): Promise<string> {
  const folder = join(directory, `worker-${name}`)
  await rm(folder, { recursive: true, force: true })
  const other = await openSpool({ name })
  await append(other, ...records)
  await other.close()
  const [segment = ''] = (await readdir(folder)).filter((file) => file.endsWith('.segment'))
  await appendFile(join(folder, segment), tail)
  return join(folder, segment)
}

test('records come out as they went in, in order, and the disk is free afterwards', async () => {
  const spool = await openSpool()
  await append(spool, ...numbered(50))
  expect(spool.depth().records).toBe(50)
  expect(await drain(spool, 7)).toEqual(numbered(50))
  expect(spool.depth()).toMatchObject({ records: 0, oldestMs: undefined })
  await spool.close()
  expect(await readdir(directory)).toEqual([])
})

test('what comes after everything was sent is sent too', async () => {
  const spool = await openSpool()
  for (const record of ['a', 'b', 'c']) {
    await append(spool, record)
    expect(await drain(spool)).toEqual([record])
  }
  await spool.close()
})

test('a record that is being written when the spool is closed is there for the next process', async () => {
  const spool = await openSpool()
  const written = append(spool, 'last')
  await spool.close()
  await written
  const next = await openSpool()
  expect(await drain(next)).toEqual(['last'])
  await next.close()
})

test('what is on disk cannot be read without the key', async () => {
  const spool = await openSpool()
  await append(spool, 'a secret prompt')
  const [folder = ''] = await readdir(directory)
  for (const file of await readdir(join(directory, folder)))
    expect((await readFile(join(directory, folder, file))).includes('secret')).toBe(false)
  await spool.close()
})

test('records that were not acknowledged are there for the next process, and those that were are not', async () => {
  const first = await openSpool()
  for (const record of numbered(20)) await append(first, record)
  const batch = await first.take(5, 1024 * 1024)
  if (batch !== undefined) await first.acknowledge(batch)
  await first.close()
  const next = await openSpool()
  expect(await drain(next)).toEqual(numbered(20).slice(5))
  await next.close()
})

test('a note of what is sent that was torn costs a resend, and no record', async () => {
  for (const length of [0, 1, 2]) {
    const first = await openSpool()
    for (const record of numbered(20)) await append(first, record)
    const batch = await first.take(5, 1024 * 1024)
    if (batch !== undefined) await first.acknowledge(batch)
    await first.close()
    const [note = ''] = (await readdir(directory, { recursive: true })).filter((file) =>
      file.endsWith('.sent'),
    )
    const text = await readFile(join(directory, note), 'latin1')
    expect(text).toHaveLength(3)
    await writeFile(join(directory, note), text.slice(0, length))
    const next = await openSpool()
    const seen = await drain(next)
    expect(seen.slice(-15)).toEqual(numbered(20).slice(5))
    expect(lost).toEqual([])
    await next.close()
  }
})

test('a batch that is given up holds up no other: segments take turns, and none loses its place', async () => {
  await leftBehind('dead', ['stubborn'])
  await leftBehind('dead as well', ['stubborn too'])
  const spool = await openSpool()
  await append(spool, 'a', 'b')
  const next = async () => (await spool.take(100, 1024 * 1024))?.records.map(String)
  const [first, second] = [await next(), await next()]
  expect([first, second].flat().sort()).toEqual(['stubborn', 'stubborn too'])
  expect([await next(), await next(), await next()]).toEqual([['a', 'b'], first, second])
  expect(await drain(spool)).toEqual(['a', 'b', ...(first ?? []), ...(second ?? [])])
  await spool.close()
})

test('a folder whose process lives is left alone', async () => {
  const first = await openSpool()
  await append(first, 'mine')
  const second = await openSpool()
  expect(await drain(second)).toEqual([])
  expect(await drain(first)).toEqual(['mine'])
  await Promise.all([first.close(), second.close()])
})

test('many segments, more than is kept in memory, are read back in order', async () => {
  const spool = await openSpool({ maxBytes: 80 * 1024 * 1024 })
  const records = numbered(500, 100_000)
  for (let at = 0; at < records.length; at += 50) await append(spool, ...records.slice(at, at + 50))
  expect((await drain(spool)).join() === records.join()).toBe(true)
  expect(lost).toEqual([])
  await spool.close()
})

describe('what a killed process leaves', () => {
  const frame = encodeFrames([Buffer.from('torn')], key)
  test.each<[string, Buffer]>([
    ['whole', Buffer.alloc(0)],
    ['with a torn frame', frame.subarray(0, frame.length - 3)],
    ['with a torn length', frame.subarray(0, 2)],
  ])('%s', async (_name, tail) => {
    await leftBehind('dead', numbered(10), tail)
    const spool = await openSpool()
    expect(await drain(spool)).toEqual(numbered(10))
    expect(lost).toEqual([])
    await spool.close()
  })

  test('cut at any byte: the whole frames before the cut', async () => {
    const whole = Buffer.concat([
      segmentHeader(),
      ...numbered(3).map((record) => encodeFrames([Buffer.from(record)], key)),
    ])
    const frameLength = (whole.length - 8) / 3
    for (let cut = 0; cut <= whole.length; cut++) {
      const path = await leftBehind(`cut${cut}`, ['x'])
      await writeFile(path, whole.subarray(0, cut))
      const spool = await openSpool()
      expect(await drain(spool)).toEqual(
        numbered(3).slice(0, Math.max(0, Math.floor((cut - 8) / frameLength))),
      )
      await spool.close()
    }
  })

  test('damaged: what stands before the damage, and the loss is told', async () => {
    const path = await leftBehind('dead', numbered(9), encodeFrames([Buffer.from('9:')], key))
    const bytes = await readFile(path)
    bytes[bytes.length - 5] = (bytes.at(-5) ?? 0) ^ 0xff
    await writeFile(path, bytes)
    const spool = await openSpool()
    expect(await drain(spool)).toEqual(numbered(9))
    expect(lost).toEqual([['damaged', 1]])
    await spool.close()
  })

  test('of another version: set aside, and said, until a gateway comes that can read it', async () => {
    const path = await leftBehind('dead', numbered(2))
    const bytes = await readFile(path)
    bytes[4] = 9
    await writeFile(path, bytes)
    const spool = await openSpool()
    expect(await drain(spool)).toEqual([])
    expect(spool.problem()).toBe('1 segments of another version lie in set-aside/')
    await spool.close()
    const [name = ''] = await readdir(join(directory, 'set-aside'))
    bytes[4] = 1
    await writeFile(join(directory, 'set-aside', name), bytes)
    const next = await openSpool()
    expect(await drain(next)).toEqual(numbered(2))
    expect(next.problem()).toBeNull()
    expect(lost).toEqual([])
    await next.close()
  })

  test('after the start, once there is room for it', async () => {
    const spool = await openSpool({ tickMs: 10, maxBytes: 1_000_000 })
    await append(spool, ...numbered(7, 100_000))
    await leftBehind('dead', numbered(4, 100_000))
    await until(() => spool.isDue())
    expect((await spool.take(1, 1))?.records).toHaveLength(1)
    expect(spool.depth().records).toBe(7)
    const seen = await drain(spool)
    await until(() => spool.isDue())
    seen.push(...(await drain(spool)))
    const numbers = [...numbered(7), ...numbered(4)].sort()
    expect(seen.map((record) => record.replaceAll('x', '')).sort()).toEqual(numbers)
    expect(lost).toEqual([])
    await spool.close()
  })

  test('while it was adopting another: both', async () => {
    const path = await leftBehind('inner', ['inner'])
    const aside = join(directory, 'aside')
    await rename(join(path, '..'), aside)
    await leftBehind('outer', ['outer'])
    await rename(aside, join(directory, 'worker-outer', 'incoming-worker-inner'))
    const spool = await openSpool()
    expect((await drain(spool)).sort()).toEqual(['inner', 'outer'])
    await spool.close()
  })
})

describe('a full spool', () => {
  const megabyte = 1024 * 1024
  test('drops the oldest whole segments and says how many records', async () => {
    const spool = await openSpool({ maxBytes: 4 * megabyte })
    const records = numbered(100, 100_000)
    for (const record of records) await append(spool, record)
    expect(spool.depth().bytes).toBeLessThanOrEqual(4 * megabyte)
    const kept = await drain(spool)
    const gone = lost.reduce((sum, [, count]) => sum + count, 0)
    expect(new Set(lost.map(([reason]) => reason))).toEqual(new Set(['spool_full']))
    expect(kept.join() === records.slice(gone).join()).toBe(true)
    await spool.close()
  })

  test('never drops what is being sent', async () => {
    const spool = await openSpool({ maxBytes: 4 * megabyte })
    const records = numbered(60, 100_000)
    await append(spool, records[0] ?? '')
    const batch = await spool.take(1, megabyte)
    for (const record of records.slice(1)) await append(spool, record)
    if (batch !== undefined) await spool.acknowledge(batch)
    // The rest of the segment that was in flight is still there.
    expect((await drain(spool))[0]).toBe(records[1])
    await spool.close()
  })
})

test('a disk that takes nothing rejects, counts, and works again when it does', async () => {
  const spool = await openSpool()
  const [folder = ''] = await readdir(directory)
  const path = join(directory, folder)
  await rm(path, { recursive: true })
  await expect(append(spool, 'a')).rejects.toThrow()
  expect(lost).toEqual([['spool_write', 1]])
  await mkdir(path)
  await append(spool, 'b')
  expect(await drain(spool)).toEqual(['b'])
  await spool.close()
})

test('names of segments sort by time', () => {
  expect(segmentName(999, 'ff') < segmentName(1_000, '00')).toBe(true)
})
