import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { appendAll, drainSpool, numbered, useSpools } from '#tests/support/spool-fixture.ts'
import { until } from '#tests/support/until.ts'
import { segmentName } from './segment.ts'

const world = useSpools()

test('records come out as they went in, in order, and the disk is free afterwards', async () => {
  const spool = await world.open()
  await appendAll(spool, ...numbered(50))
  expect(spool.depth().records).toBe(50)
  expect(await drainSpool(spool, 7)).toEqual(numbered(50))
  expect(spool.depth()).toMatchObject({ records: 0, oldestMs: undefined })
  await spool.close()
  expect(await readdir(world.directory)).toEqual([])
})

test('what comes after everything was sent is sent too', async () => {
  const spool = await world.open()
  for (const record of ['a', 'b', 'c']) {
    await appendAll(spool, record)
    expect(await drainSpool(spool)).toEqual([record])
  }
  await spool.close()
})

test('how far the last records before a pause were sent is noted, though they followed others at once', async () => {
  const spool = await world.open({ now: () => 1_000_000, tickMs: 10 })
  for (const record of ['a', 'b']) {
    await appendAll(spool, record)
    await drainSpool(spool)
  }
  const files = await readdir(world.directory, { recursive: true })
  const segment = join(world.directory, files.find((file) => file.endsWith('.segment')) ?? '')
  await until(async () => {
    await spool.take(1, 1)
    return Number(await readFile(`${segment}.sent`, 'utf8')) === (await stat(segment)).size
  })
  await spool.close()
})

test('a record that is being written when the spool is closed is there for the next process', async () => {
  const spool = await world.open()
  const written = appendAll(spool, 'last')
  await spool.close()
  await written
  const next = await world.open()
  expect(await drainSpool(next)).toEqual(['last'])
  await next.close()
})

test('what is on disk cannot be read without the key', async () => {
  const spool = await world.open()
  await appendAll(spool, 'a secret prompt')
  const [folder = ''] = await readdir(world.directory)
  for (const file of await readdir(join(world.directory, folder)))
    expect((await readFile(join(world.directory, folder, file))).includes('secret')).toBe(false)
  await spool.close()
})

test('records that were not acknowledged are there for the next process, and those that were are not', async () => {
  const first = await world.open()
  for (const record of numbered(20)) await appendAll(first, record)
  const batch = await first.take(5, 1024 * 1024)
  if (batch !== undefined) await first.acknowledge(batch)
  await first.close()
  const next = await world.open()
  expect(await drainSpool(next)).toEqual(numbered(20).slice(5))
  await next.close()
})

test('a folder whose process lives is left alone', async () => {
  const first = await world.open()
  await appendAll(first, 'mine')
  const second = await world.open()
  expect(await drainSpool(second)).toEqual([])
  expect(await drainSpool(first)).toEqual(['mine'])
  await Promise.all([first.close(), second.close()])
})

test('many segments, more than is kept in memory, are read back in order', async () => {
  const spool = await world.open({ maxBytes: 80 * 1024 * 1024 })
  const records = numbered(500, 100_000)
  for (let at = 0; at < records.length; at += 50) await appendAll(spool, ...records.slice(at, at + 50))
  expect((await drainSpool(spool)).join() === records.join()).toBe(true)
  expect(world.lost).toEqual([])
  await spool.close()
})

describe('a full spool', () => {
  const megabyte = 1024 * 1024
  test('drops the oldest whole segments and says how many records', async () => {
    const spool = await world.open({ maxBytes: 4 * megabyte })
    const records = numbered(100, 100_000)
    for (const record of records) await appendAll(spool, record)
    expect(spool.depth().bytes).toBeLessThanOrEqual(4 * megabyte)
    const kept = await drainSpool(spool)
    const gone = world.lost.reduce((sum, [, count]) => sum + count, 0)
    expect(new Set(world.lost.map(([reason]) => reason))).toEqual(new Set(['spool_full']))
    expect(kept.join() === records.slice(gone).join()).toBe(true)
    await spool.close()
  })

  test('never drops what is being sent', async () => {
    const spool = await world.open({ maxBytes: 4 * megabyte })
    const records = numbered(60, 100_000)
    await appendAll(spool, records[0] ?? '')
    const batch = await spool.take(1, megabyte)
    for (const record of records.slice(1)) await appendAll(spool, record)
    if (batch !== undefined) await spool.acknowledge(batch)
    // The rest of the in-flight segment remains.
    expect((await drainSpool(spool))[0]).toBe(records[1])
    await spool.close()
  })
})

test('a disk that takes nothing rejects, counts, and works again when it does', async () => {
  const spool = await world.open()
  const [folder = ''] = await readdir(world.directory)
  const path = join(world.directory, folder)
  await rm(path, { recursive: true })
  await expect(appendAll(spool, 'a')).rejects.toThrow()
  expect(world.lost).toEqual([['spool_write', 1]])
  await mkdir(path)
  await appendAll(spool, 'b')
  expect(await drainSpool(spool)).toEqual(['b'])
  await spool.close()
})

test('names of segments sort by time', () => {
  expect(segmentName(999, 'ff') < segmentName(1_000, '00')).toBe(true)
})
