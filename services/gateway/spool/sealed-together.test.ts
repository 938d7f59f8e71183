import { createSecretKey } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import { segmentName } from './segment.ts'
import { Spool } from './spool.ts'

// Takes over 10 s beside five other test processes on two cores.
jest.setTimeout(120_000)

let directory: string
let lost: [string, number][]
let names = 0

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-sealed-'))
  lost = []
})
afterEach(() => rm(directory, { recursive: true }))

async function openSpool(): Promise<Spool> {
  const spool = new Spool({
    directory,
    name: `s${names++}`,
    key: createSecretKey(Buffer.alloc(32, 3)),
    maxBytes: 64 * 1024 * 1024,
    maxAsideBytes: 1_000_000,
    maxWaitingBytes: 64 * 1024 * 1024,
    stripBodies: (record) => record,
    now: Date.now,
    log: createLog('spool-test', 'silent'),
    onLost: (reason, records) => lost.push([reason, records]),
  })
  await spool.open()
  return spool
}

/** Appends all in one write. */
const append = (spool: Spool, records: readonly string[]) =>
  Promise.all(records.map((record) => spool.append(Buffer.from(record))))

/** Takes and acknowledges one batch. */
async function send(spool: Spool, maxRecords: number, maxBytes: number): Promise<string[]> {
  const batch = await spool.take(maxRecords, maxBytes)
  if (batch !== undefined) await spool.acknowledge(batch)
  return batch?.records.map(String) ?? []
}

async function drain(spool: Spool): Promise<string[]> {
  const sent = await send(spool, 100, 1024 * 1024)
  return sent.length === 0 ? [] : [...sent, ...(await drain(spool))]
}

test('each record is sent once, whatever is asked for and wherever a process ends', async () => {
  // Around the size of the buffer for records encrypted together, and beyond it.
  const long = [65_531, 65_532, 65_533, 200_000]
  const records = Array.from({ length: 2_000 }, (_, n) =>
    `${n}:`.padEnd(long[n % 50] ?? (n * 7_919) % 26_000, 'x'),
  )
  const seen: string[] = []
  let spool = await openSpool()
  for (let at = 0, round = 0; at < records.length; round++) {
    const next = at + 1 + ((at * 31) % 60)
    await append(spool, records.slice(at, next))
    if (round % 3 > 0) seen.push(...(await send(spool, 1 + (at % 40), 1 + ((at * 977) % 300_000))))
    at = next
    if (round % 5 > 0) continue
    await spool.close()
    spool = await openSpool()
  }
  seen.push(...(await drain(spool)))
  expect(seen.map((record) => Number.parseInt(record, 10))).toEqual(records.map((_, n) => n))
  expect(seen.join() === records.join()).toBe(true)
  expect([lost, spool.depth().records]).toEqual([[], 0])
  await spool.close()
})

test('a batch is no larger than was asked for, unless its records were sealed together', async () => {
  const spool = await openSpool()
  const ten = Array.from({ length: 10 }, (_, n) => `${n}`)
  await append(spool, ten)
  await append(spool, ten)
  expect([await send(spool, 3, 1024), await send(spool, 12, 1024)]).toEqual([ten, ten])
  await spool.close()
})

test('a segment of version 1, each record sealed by itself, is sent', async () => {
  const version1 =
    'U0xTUAEAAAAfAAAAKwEAUwF2jyoDxDwJyJvgszBJHeP7d6my5khWvOi4dmOeCEofAAAAakYYRwGhsTRAcqYDKtx3UbuTCmLMeD4QfDYrLi9FAaKJIDA='
  const folder = join(directory, 'worker-gone')
  await mkdir(folder)
  await writeFile(join(folder, segmentName(1, 'old')), Buffer.from(version1, 'base64'))
  const spool = await openSpool()
  expect(await drain(spool)).toEqual(['0:', '1:'])
  expect(lost).toEqual([])
  await spool.close()
})
