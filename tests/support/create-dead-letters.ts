import type { Kafka } from 'kafkajs'
import { hashedId, idToUuid } from '#schemas/ids.ts'
import type { RunningApi } from './start-api.ts'

/**
 * Creates dead letters of `topic` and their rows, as the runtime and the sink do. Returns their identifiers.
 */
export async function createDeadLetters(
  { api, kafka }: { api: RunningApi; kafka: Kafka },
  letters: readonly [key: string, value: Buffer | null][],
  topic: string,
): Promise<string[]> {
  const producer = kafka.producer()
  await producer.connect()
  const timestampMs = Date.now()
  const headers = { mine: 'kept', 'sluice-dlq-code': 'UNSTORABLE', 'sluice-dlq-offset': '3' }
  const [sent] = await producer.send({
    topic: `${api.topicPrefix}${topic}.dlq`,
    messages: letters.map(([key, value]) => ({ key, value, timestamp: String(timestampMs), headers })),
  })
  await producer.disconnect()
  const ids: string[] = []
  for (const [index, [key, value]] of letters.entries()) {
    const offset = String(Number(sent?.baseOffset ?? '0') + index)
    const id = hashedId('deadLetter', timestampMs, [key, offset])
    await api.pool.query(
      `insert into dead_letters (id, cluster, topic, partition, "offset", code, message, record_key, value_bytes, dead_at)
       values ($1, 'c', $2, 0, $3, 'UNSTORABLE', 'no', $4, $5, $6)`,
      [idToUuid(id), topic, offset, key, value?.length ?? null, new Date(timestampMs)],
    )
    ids.push(id)
  }
  return ids
}
