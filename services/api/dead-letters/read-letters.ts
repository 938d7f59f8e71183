import type { Kafka } from 'kafkajs'
import { SluiceError } from '#runtime/errors.ts'
import type { RawRecord } from '#runtime/kafka/raw-record.ts'
import { readRecordsAt } from '#runtime/kafka/read-records.ts'
import { idTimeMs } from '#schemas/ids.ts'
import { deadLetterTopic } from '#schemas/topics.ts'
import { unavailable } from '#http/problem.ts'
import type { DeadLetter } from '../stores/dead-letter-store.ts'

/**
 * The records of dead letters by their ids, without those Kafka has deleted. Throws 503 when Kafka is away.
 */
export type ReadLetters = (letters: readonly DeadLetter[]) => Promise<Map<string, RawRecord>>

const readTimeoutMs = 15_000

export function createReadLetters(kafka: Kafka, topicPrefix: string): ReadLetters {
  return async (letters) => {
    const positions = letters.map((letter) => ({ ...letter, ...positionOf(letter, topicPrefix) }))
    const options = { groupPrefix: `${topicPrefix}redrive-`, timeoutMs: readTimeoutMs }
    const records = await orUnavailable(() => readRecordsAt(kafka, positions, options))
    return new Map(
      positions.flatMap((position): [string, RawRecord][] => {
        const record = records.find((candidate) => isAt(candidate, position))
        // A different time means that the topic was recreated and this is another record.
        const same = record !== undefined && Number(record.message.timestamp) === idTimeMs(position.id)
        return same ? [[position.id, record]] : []
      }),
    )
  }
}

function positionOf({ topic, offset }: DeadLetter, prefix: string): { topic: string; offset: bigint } {
  return { topic: deadLetterTopic(prefix + topic), offset: BigInt(offset) }
}

function isAt(record: RawRecord, position: { topic: string; partition: number; offset: bigint }): boolean {
  return (
    record.offset === position.offset &&
    record.partition === position.partition &&
    record.topic === position.topic
  )
}

/** Maps a transient failure to 503. */
export async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof SluiceError) || error.retry === 'never') throw error
    throw unavailable('QUEUE_UNAVAILABLE', 'Kafka does not answer at the moment', error)
  }
}
