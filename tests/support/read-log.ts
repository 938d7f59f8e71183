import { randomUUID } from 'node:crypto'
import type { Admin, EachBatchPayload, IHeaders, Kafka } from 'kafkajs'

export interface LogRecord {
  partition: number
  key: string
  value: Buffer | null
  headers: IHeaders
}

/** Every record of the topic's log, from its beginning to its present end; partitions each in their order. */
export async function readLog(kafka: Kafka, topic: string): Promise<LogRecord[]> {
  const ends = await endsOf(kafka, topic)
  const records: LogRecord[] = []
  if (ends.size === 0) return records
  const consumer = kafka.consumer({ groupId: `${topic}-reader-${randomUUID()}` })
  await consumer.connect()
  try {
    await consumer.subscribe({ topic, fromBeginning: true })
    await new Promise<void>((resolve, reject) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => {
        if (!payload.restart) reject(payload.error)
      })
      const eachBatch = ({ batch }: EachBatchPayload) => {
        for (const { key, value, headers } of batch.messages) {
          records.push({
            partition: batch.partition,
            key: key?.toString() ?? '',
            value,
            headers: headers ?? {},
          })
        }
        if (BigInt(batch.lastOffset()) + 1n >= (ends.get(batch.partition) ?? 0n)) ends.delete(batch.partition)
        if (ends.size === 0) resolve()
        return Promise.resolve()
      }
      consumer.run({ eachBatch }).catch(reject)
    })
  } finally {
    await consumer.disconnect()
  }
  return records
}

async function endsOf(kafka: Kafka, topic: string): Promise<Map<number, bigint>> {
  const admin = kafka.admin()
  await admin.connect()
  try {
    const offsets = await offsetsOf(admin, topic)
    const written = offsets.filter(({ high, low }) => high !== low)
    return new Map(written.map(({ partition, high }) => [partition, BigInt(high)]))
  } finally {
    await admin.disconnect()
  }
}

/** A topic that is new can have its leader named before the leader knows. */
async function offsetsOf(admin: Admin, topic: string) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await admin.fetchTopicOffsets(topic)
    } catch (error) {
      const known = error instanceof Error && 'type' in error && error.type === 'NOT_LEADER_FOR_PARTITION'
      if (!known || attempt === 50) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
