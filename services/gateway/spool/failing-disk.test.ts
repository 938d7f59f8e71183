import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createLog, type Log } from '#runtime/log.ts'
import { until } from '#tests/support/until.ts'
import { encodeFrames, segmentHeader } from './segment-format.ts'
import { segmentName } from './segment.ts'
import { Spool } from './spool.ts'
import { createSpoolProblems } from './spool-problems.ts'

const megabyte = 1024 * 1024
let directory: string
let lost: [string, number][]

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-failing-disk-'))
  lost = []
})
afterEach(() => rm(directory, { recursive: true }))

async function openSpool(): Promise<Spool> {
  const spool = new Spool({
    directory,
    name: 'own',
    key: undefined,
    maxBytes: 16 * megabyte,
    maxAsideBytes: 1_000_000,
    maxWaitingBytes: megabyte,
    stripBodies: (record) => record,
    now: Date.now,
    tickMs: 5,
    log: createLog('spool-test', 'silent'),
    onLost: (reason, records) => lost.push([reason, records]),
  })
  await spool.open()
  return spool
}

/** Takes and acknowledges everything readable. */
async function drain(spool: Spool): Promise<string[]> {
  const seen: string[] = []
  for (;;) {
    const batch = await spool.take(100, megabyte)
    if (batch === undefined) return seen
    seen.push(...batch.records.map(String))
    await spool.acknowledge(batch)
  }
}

/** An abandoned folder per record, with a segment that holds it. */
async function leave(...records: string[]): Promise<void> {
  for (const [index, record] of records.entries()) {
    const folder = join(directory, `worker-${record}`)
    await mkdir(folder)
    const bytes = Buffer.concat([segmentHeader(), encodeFrames([Buffer.from(record)], undefined)])
    await writeFile(join(folder, segmentName(index + 1, record)), bytes)
  }
}
async function pathOf(record: string): Promise<string> {
  const names = await readdir(directory, { recursive: true })
  return join(directory, names.find((name) => name.endsWith(`${record}.segment`)) ?? 'none')
}
/** Replaces the file by a directory, which even root can neither read nor unlink as a file. */
async function obstruct(record: string): Promise<void> {
  const path = await pathOf(record)
  await rename(path, `${path}.aside`)
  await mkdir(path)
}
async function mend(record: string): Promise<void> {
  const path = await pathOf(record)
  await rm(path, { recursive: true })
  await rename(`${path}.aside`, path)
}

test('what cannot be read takes no turn of those behind one that was given up', async () => {
  await leave('first', 'second', 'third')
  const spool = await openSpool()
  await obstruct('second')
  const taken = []
  for (let n = 0; n < 2; n++) taken.push((await spool.take(1, megabyte))?.records.map(String))
  expect(taken).toEqual([['first'], ['third']])
  await spool.close()
})

test('what cannot be read is passed over, said, and sent once it can be', async () => {
  await leave('first', 'second')
  const spool = await openSpool()
  await obstruct('first')
  expect(await drain(spool)).toEqual(['second'])
  expect(spool.problem()).toContain('cannot be read')
  expect(spool.depth().records).toBe(1)
  await mend('first')
  await until(() => spool.isDue())
  expect(await drain(spool)).toEqual(['first'])
  expect([spool.problem(), lost]).toEqual([null, []])
  await spool.close()
})

test('what is not there any more, or cannot be read for long, is lost and counted', async () => {
  await leave('first', 'second', 'third')
  const spool = await openSpool()
  await rm(await pathOf('first'))
  await obstruct('second')
  expect(await drain(spool)).toEqual(['third'])
  expect(lost).toEqual([['damaged', 1]])
  await until(async () => (await drain(spool)).length === 0 && lost.length === 2)
  expect(spool.depth().records).toBe(0)
  await spool.close()
})

test('what cannot be removed ends nothing', async () => {
  await leave('first')
  const spool = await openSpool()
  const batch = await spool.take(1, megabyte)
  if (batch !== undefined) await spool.acknowledge(batch)
  await obstruct('first')
  expect(await drain(spool)).toEqual([])
  expect(spool.problem()).toContain('cannot be removed')
  await spool.append(Buffer.from('more'))
  expect(await drain(spool)).toEqual(['more'])
  await mend('first')
  await until(() => spool.isDue())
  expect(await drain(spool)).toEqual([])
  expect(spool.problem()).toBeNull()
  await spool.close()
  expect(await readdir(directory)).toEqual([])
})

test('a stray note that cannot be removed holds no record up', async () => {
  await leave('first')
  await mkdir(join(directory, 'worker-first', `${segmentName(7, 'gone')}.sent`))
  const spool = await openSpool()
  expect(await drain(spool)).toEqual(['first'])
  await spool.close()
})

test('what cannot be adopted holds up nothing else, and is adopted once it can be', async () => {
  await leave('first', 'second')
  await obstruct('first')
  const spool = await openSpool()
  expect(await drain(spool)).toEqual(['second'])
  expect(spool.problem()).toContain('cannot be adopted')
  await mend('first')
  await until(() => spool.isDue())
  expect(await drain(spool)).toEqual(['first'])
  expect([spool.problem(), lost]).toEqual([null, []])
  await spool.close()
})

test('a write that fails is a problem until one does not', async () => {
  const spool = await openSpool()
  const [folder = ''] = await readdir(directory)
  await rm(join(directory, folder), { recursive: true })
  await expect(spool.append(Buffer.from('a'))).rejects.toThrow()
  expect(spool.problem()).toContain('ENOENT')
  await mkdir(join(directory, folder))
  await spool.append(Buffer.from('b'))
  expect(spool.problem()).toBeNull()
  await spool.close()
})

test('what is lost is counted each time and said once a second', () => {
  const logged: unknown[] = []
  const log = { error: (fields: unknown) => logged.push(fields) } as unknown as Log
  const problems = createSpoolProblems(log)
  for (let call = 0; call < 1_000; call++) problems.lost('spool_write', 1, undefined)
  problems.lost('spool_full', 40, undefined)
  // One more if the machine paused meanwhile.
  expect(logged.length).toBeLessThan(10)
  expect(logged[0]).toMatchObject({ reason: 'spool_write', records: 1, unsaid: 0 })
  expect(logged.at(-1)).toMatchObject({ reason: 'spool_full', records: 40 })
})
