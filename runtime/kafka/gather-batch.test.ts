import { describe, expect, test } from '@jest/globals'
import { gatherBatch, splitBatch } from './gather-batch.ts'
import { partitionForKey } from './partition-for-key.ts'
import { PendingSend } from './pending-send.ts'
import { QueuedRecord } from './queued-record.ts'
import { TransientError } from '../errors.ts'

const limits = { maxBatchRecords: 100, maxBatchBytes: 4_000_000 }
const six = new Map([
  ['calls', 6],
  ['events', 6],
])

function queue(sizes: readonly { topic?: string; key: string; bytes: number }[]): QueuedRecord[] {
  const send = new PendingSend(sizes.length, 1_000, () => new TransientError('KAFKA_UNAVAILABLE', 'late'))
  send.done.catch(() => undefined)
  send.fail(new TransientError('KAFKA_UNAVAILABLE', 'not sent in this test'))
  return sizes.map(
    ({ topic = 'calls', key, bytes }) =>
      new QueuedRecord(
        { topic, key, value: Buffer.alloc(0) },
        { send, bytes, deadlineMs: 0, buffer: { remove: () => undefined } },
      ),
  )
}

describe('gatherBatch', () => {
  test('groups by topic and partition and keeps the order of a partition', () => {
    const records = queue(
      Array.from({ length: 60 }, (_unused, index) => ({
        topic: index % 2 === 0 ? 'calls' : 'events',
        key: `key ${index}`,
        bytes: 10,
      })),
    )
    const { groups, taken } = gatherBatch(records, six, limits)
    expect(taken).toBe(60)
    for (const group of groups) {
      const expected = records.filter(
        ({ topic, message }) =>
          topic === group.topic && partitionForKey(message.key as string, 6) === group.partition,
      )
      expect(group.records).toEqual(expected)
      expect(group.bytes).toBe(expected.length * 10)
    }
  })

  test('stops at the limit of records', () => {
    expect(gatherBatch(queue(keys(300, 1)), six, limits).taken).toBe(100)
  })

  test('stops at the limit of bytes, but always takes one', () => {
    const { taken } = gatherBatch(queue(keys(10, 3_000_000)), six, limits)
    expect(taken).toBe(1)
    expect(gatherBatch(queue(keys(1, 9_000_000)), six, limits).taken).toBe(1)
  })

  test('lets a record that is large by itself go alone in its partition, and nothing pass it', () => {
    const records = queue([
      { key: 'one', bytes: 800_000 },
      { key: 'one', bytes: 800_000 },
      { key: 'one', bytes: 10 },
    ])
    const { groups, taken } = gatherBatch(records, six, limits)
    expect(taken).toBe(1)
    expect(groups).toMatchObject([{ records: [records[0]] }])
  })
})

test('gatherBatch leaves a record whose partitions are not known yet, and those behind it', () => {
  const records = queue([
    { key: 'one', bytes: 1 },
    { topic: 'new', key: 'two', bytes: 1 },
    { key: 'three', bytes: 1 },
  ])
  expect(gatherBatch(records, six, limits).taken).toBe(1)
})

describe('splitBatch', () => {
  test('parts groups first, then halves the records, and ends at one', () => {
    const { groups } = gatherBatch(queue(keys(40, 5)), six, limits)
    const seen: QueuedRecord[] = []
    const takeApart = (part: Parameters<typeof splitBatch>[0]) => {
      const smaller = splitBatch(part)
      if (smaller === undefined) seen.push(...part.flatMap(({ records }) => records))
      else smaller.forEach(takeApart)
    }
    takeApart(groups)
    expect(seen).toEqual(groups.flatMap(({ records }) => records))
  })
})

function keys(count: number, bytes: number) {
  return Array.from({ length: count }, (_unused, index) => ({ key: `key ${index}`, bytes }))
}
