import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { createConsumerBench, type ConsumerBench } from '#tests/support/consumer-bench.ts'
import { until } from '#tests/support/until.ts'
import { readRanges, readRecordsFrom } from './read-range.ts'

jest.setTimeout(300_000)

let bench: ConsumerBench

beforeEach(async () => {
  bench = await createConsumerBench('range', 1)
})
afterEach(() => bench.close())

const texts = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name} ${index}`)
const readAll = async () => {
  const { next = '', end = '' } = (await readRanges(bench.kafka, bench.topic, 0))['0'] ?? {}
  return { offset: BigInt(next), end: BigInt(end) }
}

/** The pages of a range, and what was lost with each. */
async function readPages({ offset, end }: { offset: bigint; end: bigint }) {
  const pages: { values: string[]; lost: number }[] = []
  for (let next = offset; next < end;) {
    const range = { topic: bench.topic, partition: 0, offset: next, end }
    const options = {
      groupPrefix: `${bench.groupId}-`,
      timeoutMs: 60_000,
      maxRecords: 4,
      maxBytes: 1_000_000,
    }
    const { records, nextOffset, lostCount } = await readRecordsFrom(bench.kafka, range, options)
    pages.push({ values: records.map(({ message }) => String(message.value)), lost: lostCount })
    next = nextOffset
  }
  return pages
}

async function makeAnew(): Promise<void> {
  const { admin, topic } = bench
  await admin.deleteTopics({ topics: [topic] })
  // The old one is listed for a while.
  await until(() =>
    admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: false }).catch(() => false),
  )
  await until(() =>
    admin.fetchTopicOffsets(topic).then(
      ({ length }) => length === 1,
      () => false,
    ),
  )
}

test('every record of a range comes once, and what retention has deleted is counted with the page that passes it', async () => {
  await bench.send(texts('a', 10), 0)
  const range = await readAll()
  // Written after the range was taken.
  await bench.send(texts('later', 3), 0)
  await bench.admin.deleteTopicRecords({ topic: bench.topic, partitions: [{ partition: 0, offset: '3' }] })
  expect(await readPages(range)).toEqual([
    { values: ['a 3', 'a 4', 'a 5', 'a 6'], lost: 3 },
    { values: ['a 7', 'a 8', 'a 9'], lost: 0 },
  ])
})

test('a range of a topic that was recreated ends: what the new log does not reach is lost, and counted once', async () => {
  await bench.send(texts('old', 12), 0)
  const { end } = await readAll()
  await makeAnew()
  // An empty log.
  expect(await readPages({ offset: 8n, end })).toEqual([{ values: [], lost: 4 }])
  await bench.send(texts('new', 7), 0)
  // Where the reading had come to lies beyond the new end.
  expect(await readPages({ offset: 8n, end })).toEqual([{ values: [], lost: 4 }])
  expect(await readPages({ offset: 2n, end })).toEqual([
    { values: ['new 2', 'new 3', 'new 4', 'new 5'], lost: 0 },
    { values: ['new 6'], lost: 5 },
  ])
})

test('a partition that the topic has no longer is lost whole', async () => {
  const range = { topic: bench.topic, partition: 7, offset: 5n, end: 20n }
  const options = { groupPrefix: `${bench.groupId}-`, timeoutMs: 60_000, maxRecords: 4, maxBytes: 1_000_000 }
  expect(await readRecordsFrom(bench.kafka, range, options)).toEqual({
    records: [],
    nextOffset: 20n,
    lostCount: 15,
  })
})
