import { randomUUID } from 'node:crypto'
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs'
import { TransientError } from '../errors.ts'
import { isKafkaTrouble } from './group-errors.ts'
import type { RawRecord } from './raw-record.ts'
import type { RecordRange } from './read-range.ts'
import { asUnavailable, withAdmin } from './with-admin.ts'

interface ReadOptions {
  /** The consumer group made for the reading starts with it; it is deleted afterwards. */
  groupPrefix: string
  /** Without any record for so long, Kafka is taken to be away. */
  quietMs: number
}

/**
 * Gives `take` all records of many partitions, batch by batch, a partition's in their order. The ranges lie
 * within what the topics hold; a partition has one at most. Throws TransientError (`KAFKA_UNAVAILABLE`), and
 * what `take` throws.
 */
export async function readRecordsOf(
  kafka: Kafka,
  ranges: readonly RecordRange[],
  take: (records: readonly RawRecord[]) => Promise<void>,
  { groupPrefix, quietMs }: ReadOptions,
): Promise<void> {
  const open = new Map(
    ranges.filter(({ offset, end }) => offset < end).map((range) => [keyOf(range), { ...range }]),
  )
  if (open.size === 0) return
  const groupId = `${groupPrefix}${randomUUID()}`
  // kafkajs can only read as a group: one of its own for each reading, that commits nothing.
  const consumer = kafka.consumer({ groupId, allowAutoTopicCreation: false, maxWaitTimeInMs: 100 })
  const over = Promise.withResolvers<undefined>()
  const givenUp = () =>
    over.reject(new TransientError('KAFKA_UNAVAILABLE', `nothing was read for ${quietMs} ms`))
  let timer = setTimeout(givenUp, quietMs)
  const eachBatch = async ({ batch }: EachBatchPayload) => {
    const { topic, partition } = batch
    const range = open.get(keyOf(batch))
    if (range === undefined) return
    clearTimeout(timer)
    const records = batch.messages
      .map((message): RawRecord => ({ topic, partition, offset: BigInt(message.offset), message }))
      .filter(({ offset }) => offset >= range.offset && offset < range.end)
    await take(records)
    // A batch ends behind its last record where the log has gaps (transaction markers).
    range.offset = BigInt(batch.lastOffset()) + 1n
    if (range.offset >= range.end) {
      open.delete(keyOf(batch))
      consumer.pause([{ topic, partitions: [partition] }])
    }
    if (open.size === 0) over.resolve(undefined)
    timer = setTimeout(givenUp, quietMs)
  }
  try {
    await consumer.connect()
    await consumer.subscribe({ topics: [...new Set(ranges.map(({ topic }) => topic))], fromBeginning: true })
    pauseOthers(consumer, open)
    const running = consumer.run({
      autoCommit: false,
      eachBatch: (payload) => eachBatch(payload).catch(over.reject),
    })
    running.catch(over.reject)
    for (const { topic, partition, offset } of open.values())
      consumer.seek({ topic, partition, offset: String(offset) })
    await over.promise
  } catch (error) {
    throw isKafkaTrouble(error) ? asUnavailable(error) : error
  } finally {
    clearTimeout(timer)
    await consumer.disconnect()
    await withAdmin(kafka, (admin) => admin.deleteGroups([groupId]))
  }
}

/** The group is given every partition of the topics; those that are not asked for are not fetched. */
function pauseOthers(consumer: Consumer, open: ReadonlyMap<string, unknown>): void {
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    for (const [topic, assigned] of Object.entries(payload.memberAssignment)) {
      const partitions = assigned.filter((partition) => !open.has(keyOf({ topic, partition })))
      if (partitions.length > 0) consumer.pause([{ topic, partitions }])
    }
  })
}

function keyOf({ topic, partition }: { topic: string; partition: number }): string {
  return `${topic}/${partition}`
}
