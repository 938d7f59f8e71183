import { randomUUID } from 'node:crypto'
import type { Admin, Kafka } from 'kafkajs'
import { TransientError } from '../errors.ts'
import type { RawRecord } from './raw-record.ts'
import { withAdmin } from './with-admin.ts'

export interface RecordPlace {
  topic: string
  partition: number
  offset: bigint
}

interface ReadOptions {
  /** Prefix of the consumer group made for the read, which is deleted afterwards. */
  groupPrefix: string
  timeoutMs: number
}

/**
 * The records at `places`, in any order, without those that the log does not have. Throws TransientError
 * (`KAFKA_UNAVAILABLE`) when Kafka does not answer in time.
 */
export async function readRecordsAt(
  kafka: Kafka,
  places: readonly RecordPlace[],
  { groupPrefix, timeoutMs }: ReadOptions,
): Promise<RawRecord[]> {
  return withAdmin(kafka, async (admin) => {
    const there = await placesThere(admin, places)
    if (there.length === 0) return []
    const groupId = `${groupPrefix}${randomUUID()}`
    const found = await collect(kafka, groupId, there, timeoutMs)
    await admin.deleteGroups([groupId])
    return found
  })
}

async function placesThere(admin: Admin, places: readonly RecordPlace[]): Promise<RecordPlace[]> {
  const there: RecordPlace[] = []
  for (const [topic, wanted] of Map.groupBy(places, (place) => place.topic)) {
    const bounds = new Map((await admin.fetchTopicOffsets(topic)).map((bound) => [bound.partition, bound]))
    for (const place of wanted) {
      const bound = bounds.get(place.partition)
      if (bound === undefined) continue
      if (place.offset >= BigInt(bound.low) && place.offset < BigInt(bound.high)) there.push(place)
    }
  }
  return there
}

const keyOf = ({ topic, partition }: RecordPlace) => `${topic}/${partition}`

/** kafkajs reads only as a group: each read has its own, which commits nothing. */
async function collect(
  kafka: Kafka,
  groupId: string,
  places: readonly RecordPlace[],
  timeoutMs: number,
): Promise<RawRecord[]> {
  const wanted = new Map(
    [...Map.groupBy(places, keyOf)].map(([key, group]) => [key, new Set(group.map(({ offset }) => offset))]),
  )
  const found: RawRecord[] = []
  const complete = Promise.withResolvers<undefined>()
  const consumer = kafka.consumer({ groupId, allowAutoTopicCreation: false, maxWaitTimeInMs: 100 })
  const timer = setTimeout(() => {
    complete.reject(new TransientError('KAFKA_UNAVAILABLE', `nothing was read within ${timeoutMs} ms`))
  }, timeoutMs)
  try {
    await consumer.connect()
    await consumer.subscribe({ topics: [...new Set(places.map(({ topic }) => topic))], fromBeginning: false })
    const running = consumer.run({
      autoCommit: false,
      eachMessage: ({ topic, partition, message }) => {
        const place = { topic, partition, offset: BigInt(message.offset) }
        if (wanted.get(keyOf(place))?.delete(place.offset) === true) found.push({ ...place, message })
        if (found.length === places.length) complete.resolve(undefined)
        return Promise.resolve()
      },
    })
    running.catch(complete.reject)
    // Before it joins, so that it fetches from nowhere else first.
    for (const group of Map.groupBy(places, keyOf).values()) consumer.seek(firstOf(group))
    await complete.promise
    return found
  } finally {
    clearTimeout(timer)
    await consumer.disconnect()
  }
}

function firstOf(places: readonly RecordPlace[]): { topic: string; partition: number; offset: string } {
  const first = places.reduce((least, place) => (place.offset < least.offset ? place : least))
  return { topic: first.topic, partition: first.partition, offset: first.offset.toString() }
}
