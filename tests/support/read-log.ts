import { randomUUID } from 'node:crypto'
import type { Admin, EachBatchPayload, IHeaders, Kafka } from 'kafkajs'
import { awaitCoordinator } from './await-coordinator.ts'

export interface LogRecord {
  partition: number
  offset: bigint
  key: string
  value: Buffer | null
  headers: IHeaders
}

/** All records of the topic up to its current end, in order within each partition. */
export async function readLog(kafka: Kafka, topic: string): Promise<LogRecord[]> {
  const groupId = `${topic}-reader-${randomUUID()}`
  const ends = await endsOf(kafka, topic, groupId)
  const records: LogRecord[] = []
  if (ends.size === 0) return records
  const read = new Map<number, bigint>()
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 })
  await consumer.connect()
  try {
    await consumer.subscribe({ topic, fromBeginning: true })
    await new Promise<void>((resolve, reject) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => {
        if (!payload.restart) reject(payload.error)
      })
      const eachBatch = ({ batch }: EachBatchPayload) => {
        const { partition } = batch
        for (const { key, value, headers = {}, ...message } of batch.messages) {
          const offset = BigInt(message.offset)
          // A consumer that restarts begins again at the start.
          if (offset <= (read.get(partition) ?? -1n)) continue
          read.set(partition, offset)
          records.push({ partition, offset, key: key?.toString() ?? '', value, headers })
        }
        if (BigInt(batch.lastOffset()) + 1n >= (ends.get(partition) ?? 0n)) ends.delete(partition)
        if (ends.size === 0) resolve()
        return Promise.resolve()
      }
      consumer.run({ autoCommit: false, eachBatch }).catch(reject)
    })
  } finally {
    await consumer.disconnect()
  }
  return records
}

async function endsOf(kafka: Kafka, topic: string, groupId: string): Promise<Map<number, bigint>> {
  const admin = kafka.admin()
  await admin.connect()
  try {
    const offsets = await offsetsOf(admin, topic)
    const written = offsets.filter(({ high, low }) => high !== low)
    await awaitCoordinator(admin, groupId)
    return new Map(written.map(({ partition, high }) => [partition, BigInt(high)]))
  } finally {
    await admin.disconnect()
  }
}

/** The offsets, with retries: a new topic's metadata may name a leader that does not know it yet. */
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
