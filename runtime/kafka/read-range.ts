import { randomUUID } from 'node:crypto'
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs'
import { TransientError } from '../errors.ts'
import type { RawRecord } from './raw-record.ts'
import { asUnavailable, withAdmin } from './with-admin.ts'

/** Part of one partition: from `offset` up to `end`, exclusive. */
export interface RecordRange {
  topic: string
  partition: number
  offset: bigint
  end: bigint
}

export interface ReadRangeOptions {
  /** Prefix of the consumer group made for the read, which is deleted afterwards. */
  groupPrefix: string
  timeoutMs: number
  maxRecords: number
  /** Bytes of values; the record that exceeds the limit is still read. */
  maxBytes: number
}

/**
 * For each partition of `topic`: the first offset written at `fromMs` or later, and the current end, as text.
 */
export async function readRanges(
  kafka: Kafka,
  topic: string,
  fromMs: number,
): Promise<Record<string, { next: string; end: string }>> {
  return withAdmin(kafka, async (admin) => {
    // In sequence, as in readGroupOffsets.
    const starts = await admin.fetchTopicOffsetsByTimestamp(topic, fromMs)
    const bounds = await admin.fetchTopicOffsets(topic)
    const startAt = new Map(starts.map(({ partition, offset }) => [partition, offset]))
    return Object.fromEntries(
      bounds.map(({ partition, low, high }) => [
        String(partition),
        { next: startAt.get(partition) ?? low, end: high },
      ]),
    )
  })
}

/**
 * Records of the range in order, within the bounds; where the rest begins; and how many records of the range
 * the log no longer has. Retention deletes before the first record. Records behind the log's end went when
 * the topic was recreated or the cluster lost the log's end: the page that reaches them reports them and ends
 * the range, as later records at these offsets are others. Throws TransientError (`KAFKA_UNAVAILABLE`).
 */
export async function readRecordsFrom(
  kafka: Kafka,
  range: RecordRange,
  options: ReadRangeOptions,
): Promise<{ records: RawRecord[]; nextOffset: bigint; lostCount: number }> {
  const { low, high } = await readBounds(kafka, range)
  const start = low > range.offset ? low : range.offset
  const stop = high < range.end ? high : range.end
  // In a recreated log kafkajs starts over for any offset beyond the end, and would never reach the range.
  if (start >= stop)
    return { records: [], nextOffset: range.end, lostCount: Math.max(0, Number(range.end - range.offset)) }
  const { records, nextOffset } = await readThere(kafka, { ...range, offset: start, end: stop }, options)
  const isOver = nextOffset >= stop
  const lostCount = Number(start - range.offset) + (isOver ? Number(range.end - stop) : 0)
  return { records, nextOffset: isOver ? range.end : nextOffset, lostCount }
}

/** The partition's first offset and its end. A partition that the topic no longer has is empty. */
async function readBounds(
  kafka: Kafka,
  { topic, partition }: RecordRange,
): Promise<{ low: bigint; high: bigint }> {
  const bounds = await withAdmin(kafka, (admin) => admin.fetchTopicOffsets(topic))
  const { low, high } = bounds.find((bound) => bound.partition === partition) ?? { low: 0, high: 0 }
  return { low: BigInt(low), high: BigInt(high) }
}

async function readThere(
  kafka: Kafka,
  range: RecordRange,
  options: ReadRangeOptions,
): Promise<{ records: RawRecord[]; nextOffset: bigint }> {
  const groupId = `${options.groupPrefix}${randomUUID()}`
  // kafkajs reads only as a group: each read has its own, which commits nothing.
  const consumer = kafka.consumer({ groupId, allowAutoTopicCreation: false, maxWaitTimeInMs: 100 })
  const complete = Promise.withResolvers<{ records: RawRecord[]; nextOffset: bigint }>()
  const timer = setTimeout(() => {
    complete.reject(
      new TransientError('KAFKA_UNAVAILABLE', `nothing was read within ${options.timeoutMs} ms`),
    )
  }, options.timeoutMs)
  try {
    await consumer.connect()
    // From the beginning, in case the first record is deleted meanwhile.
    await consumer.subscribe({ topic: range.topic, fromBeginning: true })
    readOnly(consumer, range)
    const running = consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: createCollector(range, options, complete.resolve),
    })
    running.catch(complete.reject)
    consumer.seek({ topic: range.topic, partition: range.partition, offset: String(range.offset) })
    return await complete.promise
  } catch (error) {
    throw asUnavailable(error)
  } finally {
    clearTimeout(timer)
    await consumer.disconnect()
    await withAdmin(kafka, (admin) => admin.deleteGroups([groupId]))
  }
}

/** The group is assigned every partition of the topic; the others are paused. */
function readOnly(consumer: Consumer, { topic, partition }: RecordRange): void {
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    const others = (payload.memberAssignment[topic] ?? []).filter((each) => each !== partition)
    if (others.length > 0) consumer.pause([{ topic, partitions: others }])
  })
}

function createCollector(
  { topic, partition, offset: start, end }: RecordRange,
  { maxRecords, maxBytes }: ReadRangeOptions,
  finish: (found: { records: RawRecord[]; nextOffset: bigint }) => void,
) {
  const records: RawRecord[] = []
  let bytes = 0
  let nextOffset = start
  return (payload: EachBatchPayload): Promise<void> => {
    const { batch } = payload
    if (batch.partition !== partition) return Promise.resolve()
    for (const message of batch.messages) {
      const offset = BigInt(message.offset)
      if (offset < nextOffset || records.length >= maxRecords || bytes >= maxBytes) continue
      nextOffset = offset + 1n
      if (offset >= end) break
      records.push({ topic, partition, offset, message })
      bytes += message.value?.length ?? 0
      payload.resolveOffset(message.offset)
    }
    // A batch that ends behind the range ends it, whatever gaps the log has.
    if (
      batch.messages.length > 0 &&
      BigInt(batch.lastOffset()) + 1n >= end &&
      records.length < maxRecords &&
      bytes < maxBytes
    )
      nextOffset = end
    if (nextOffset >= end || records.length >= maxRecords || bytes >= maxBytes)
      finish({ records, nextOffset })
    return Promise.resolve()
  }
}
