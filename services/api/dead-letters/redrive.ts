import type { Kafka } from 'kafkajs'
import type { Pool } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import { PermanentError, SluiceError } from '#runtime/errors.ts'
import { fromDeadLetter } from '#runtime/kafka/dead-letters.ts'
import type { RawRecord } from '#runtime/kafka/raw-record.ts'
import { readRecordsAt } from '#runtime/kafka/read-records.ts'
import type { Producer } from '#runtime/kafka/records.ts'
import { inTransaction } from '#runtime/postgres.ts'
import { idTimeMs } from '#schemas/ids.ts'
import { deadLetterTopic } from '#schemas/topics.ts'
import { Problem, unavailable } from '#services/ingest/http/problem.ts'
import { auditDecided, type Actor } from '../stores/audit-store.ts'
import { decideDeadLetters, lockDeadLetters, type DeadLetter } from '../stores/dead-letter-store.ts'

/** What became of one: sent again (now or before), or why not. */
export type Redriven = { id: string; problem: Problem | null }

/** Sends dead letters to the topics they came from; one answer for each that is known. Throws 503 when Kafka is away. */
export type Redrive = (by: Actor, ids: readonly string[]) => Promise<Redriven[]>

export interface RedriveDependencies {
  pool: Pool
  kafka: Kafka
  producer: Producer
  topicPrefix: string
  clock: Clock
}

const readTimeoutMs = 15_000

/**
 * The rows are locked from reading to writing down, so that asking twice, or two people asking at once, sends once. Only a crash between
 * Kafka's answer and the commit leaves a letter open that was sent: sending it again changes nothing that a redelivery would not.
 */
export function createRedrive({ pool, kafka, producer, topicPrefix, clock }: RedriveDependencies): Redrive {
  const fetchValues = async (letters: readonly DeadLetter[]) => {
    const places = letters.map((letter) => ({ ...letter, ...placeOf(letter, topicPrefix) }))
    const options = { groupPrefix: `${topicPrefix}redrive-`, timeoutMs: readTimeoutMs }
    const records = await orUnavailable(() => readRecordsAt(kafka, places, options))
    return new Map(
      places.flatMap((place): [string, RawRecord][] => {
        const record = records.find((candidate) => isAt(candidate, place))
        // Another time there: the topic was made anew and this is another record.
        const same = record !== undefined && Number(record.message.timestamp) === idTimeMs(place.id)
        return same ? [[place.id, record]] : []
      }),
    )
  }

  /** The problem when Kafka refuses it for good. */
  const send = async (letter: DeadLetter, record: RawRecord): Promise<Problem | null> => {
    try {
      await orUnavailable(() => producer.send([fromDeadLetter(record, topicPrefix + letter.topic)]))
      return null
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error
      return new Problem(409, 'DEAD_LETTER_REFUSED', `${letter.topic} refuses it: ${error.message}`)
    }
  }

  return (by, ids) =>
    inTransaction(pool, async (client) => {
      const letters = await lockDeadLetters(client, ids)
      const sendable = letters.filter((letter) => letter.status === 'open' && letter.value_bytes !== null)
      const records = await fetchValues(sendable)
      const problems = await Promise.all(
        sendable.map(async (letter): Promise<[string, Problem | null]> => {
          const record = records.get(letter.id)
          return [letter.id, record === undefined ? gone(letter) : await send(letter, record)]
        }),
      )
      const sent = problems.filter(([, problem]) => problem === null).map(([id]) => id)
      const lost = sendable.filter(({ id }) => !records.has(id)).map(({ id }) => id)
      const nowMs = clock.now()
      await decideDeadLetters(client, sent, { status: 'redriven', reason: null, nowMs })
      await decideDeadLetters(client, lost, { status: 'lost', reason: null, nowMs })
      const redriven = letters.filter(({ id }) => sent.includes(id))
      await auditDecided(client, by, 'dead_letter.redriven', redriven, nowMs)
      const decided = new Map(problems)
      return letters.map((letter) => ({
        id: letter.id,
        problem: decided.has(letter.id) ? (decided.get(letter.id) ?? null) : whyNot(letter),
      }))
    })
}

function placeOf({ topic, offset }: DeadLetter, prefix: string): { topic: string; offset: bigint } {
  return { topic: deadLetterTopic(prefix + topic), offset: BigInt(offset) }
}

function isAt(record: RawRecord, place: { topic: string; partition: number; offset: bigint }): boolean {
  return (
    record.offset === place.offset && record.partition === place.partition && record.topic === place.topic
  )
}

function gone({ id }: DeadLetter): Problem {
  return new Problem(410, 'DEAD_LETTER_GONE', `${id}: Kafka keeps its record no longer`)
}

/** Of one that is not sent now; null when it was sent before. */
function whyNot(letter: DeadLetter): Problem | null {
  switch (letter.status) {
    case 'redriven':
      return null
    case 'lost':
      return gone(letter)
    case 'dropped':
      return new Problem(409, 'DEAD_LETTER_DROPPED', `${letter.id} was dropped: ${letter.reason ?? ''}`)
    case 'open':
      return new Problem(
        409,
        'DEAD_LETTER_WITHOUT_VALUE',
        `${letter.id}: its value was not kept (content that must not be kept, or too large)`,
      )
  }
}

async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof SluiceError) || error.retry === 'never') throw error
    throw unavailable('QUEUE_UNAVAILABLE', 'Kafka does not answer at the moment', error)
  }
}
