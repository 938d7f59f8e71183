import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { appendAll, drainSpool, numbered, spoolKey, useSpools } from '#tests/support/spool-fixture.ts'
import { PartlyWritten } from './record-writer.ts'
import type { Spool } from './spool.ts'

const megabyte = 1024 * 1024
const diskBytes = 4 * megabyte
const disk = mkdtempSync(join(tmpdir(), 'sluice-small-disk-'))
const isMounted = mount()
/** Skipped where this process may not mount a file system. */
const onSmallDisk = isMounted ? describe : describe.skip
const world = useSpools()
const record = 'x'.repeat(100_000)

function mount(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskBytes}`, 'tmpfs', disk], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
afterEach(async () => {
  for (const name of await readdir(disk)) await rm(join(disk, name), { recursive: true })
})
afterAll(() => {
  if (isMounted) execFileSync('umount', [disk])
  rmdirSync(disk)
})

/** What a later process finds on disk. */
async function onDiskAfter(spool: Spool): Promise<string[]> {
  await spool.close()
  const next = await world.open({ directory: disk })
  const found = await drainSpool(next)
  await next.close()
  return found
}
const nameOf = (text: string) => text.split(':')[0]
const countLost = () => world.lost.reduce((sum, [, count]) => sum + count, 0)
const reasons = () => [...new Set(world.lost.map(([reason]) => reason))]

onSmallDisk('a disk of 4 MB, SPOOL_MAX_BYTES 1 GiB (root alone may mount one)', () => {
  test.each([
    ['encrypted', spoolKey],
    ['plain', undefined],
  ])('%s: the oldest make room; each record is sent once or counted', async (_name, key) => {
    const limits: number[] = []
    const onLimit = (bytes: number) => limits.push(bytes)
    const spool = await world.open({ directory: disk, maxBytes: 1024 * megabyte, key, onLimit })
    const records = numbered(200).map((name) => name + record)
    await appendAll(spool, records[0] ?? '')
    // A batch that is being sent is not dropped.
    const batch = await spool.take(1, megabyte)
    for (const each of records.slice(1)) await appendAll(spool, each)
    if (batch !== undefined) await spool.acknowledge(batch)
    const found = await drainSpool(spool)
    expect(limits[0]).toBeGreaterThan(3.5 * megabyte)
    expect(limits[0]).toBeLessThan(diskBytes)
    expect(found.at(-1) === records.at(-1)).toBe(true)
    expect(found.length).toBeGreaterThan(20)
    expect([...(batch?.records ?? []), ...found].length + countLost()).toBe(records.length)
    expect(new Set([String(batch?.records[0]), ...found]).size).toBe(1 + found.length)
    expect(reasons()).toEqual(['spool_full'])
    await spool.close()
  })

  test('a record that has no room takes neither its neighbours nor what waits with it', async () => {
    const spool = await world.open({ directory: disk, maxBytes: 1024 * megabyte })
    await appendAll(spool, 'before')
    const big = Buffer.alloc(2 * diskBytes)
    const written = [Buffer.from('one'), big, Buffer.from('two')].map((each) => spool.append(each))
    const error = await Promise.all(written).catch((why: unknown) => why)
    expect(error).toBeInstanceOf(PartlyWritten)
    expect([...(error as PartlyWritten).refused.keys()]).toEqual([big])
    expect(world.lost).toEqual([['spool_write', 1]])
    expect(spool.problem()).toContain("exceed the spool's limit")
    expect(await onDiskAfter(spool)).toEqual(['before', 'one', 'two'])
  })

  test('filled by somebody else meanwhile: the oldest make room, and it goes on', async () => {
    const spool = await world.open({ directory: disk, maxBytes: 1024 * megabyte })
    const records = numbered(30).map((name) => name + record)
    for (const each of records.slice(0, 20)) await appendAll(spool, each)
    const ballast = writeFile(join(disk, 'ballast'), Buffer.alloc(diskBytes))
    await expect(ballast).rejects.toThrow('ENOSPC')
    for (const each of records.slice(20)) await appendAll(spool, each)
    expect(spool.problem()).toBeNull()
    expect(reasons()).toEqual(['spool_full'])
    const found = await onDiskAfter(spool)
    // Segments of the same millisecond come in any order after a restart.
    expect(found.map(nameOf).sort()).toEqual(records.slice(countLost()).map(nameOf).sort())
  })

  test("what a gateway left counts as the next one's, and stays", async () => {
    const first = await world.open({ directory: disk, maxBytes: 1024 * megabyte })
    const records = numbered(25).map((name) => name + record)
    for (const each of records) await appendAll(first, each)
    await first.close()
    const next = await world.open({ directory: disk, maxBytes: 1024 * megabyte })
    await appendAll(next, 'more')
    expect(world.lost).toEqual([])
    expect((await onDiskAfter(next)).length).toBe(26)
  })
})
