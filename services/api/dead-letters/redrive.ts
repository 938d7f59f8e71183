import type { Pool } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import { PermanentError } from '#runtime/errors.ts'
import { fromDeadLetter } from '#runtime/kafka/dead-letters.ts'
import type { RawRecord } from '#runtime/kafka/raw-record.ts'
import type { Producer } from '#runtime/kafka/records.ts'
import { inTransaction } from '#runtime/postgres.ts'
import { Problem } from '#http/problem.ts'
import { auditDecided, type Actor } from '../stores/audit-store.ts'
import { decideDeadLetters, lockDeadLetters, type DeadLetter } from '../stores/dead-letter-store.ts'
import { orUnavailable, type ReadLetters } from './read-letters.ts'

/** The outcome for one letter: sent again (now or before), or why not. */
export type Redriven = { id: string; problem: Problem | null }

/**
 * Sends dead letters to their original topics. One result for each known letter. Throws 503 when Kafka is
 * away.
 */
export type Redrive = (by: Actor, ids: readonly string[]) => Promise<Redriven[]>

export interface RedriveDependencies {
  pool: Pool
  readLetters: ReadLetters
  producer: Producer
  topicPrefix: string
  clock: Clock
}

/**
 * The rows stay locked from the read to the update, so that repeated or concurrent requests send once. After
 * a crash between Kafka's answer and the commit a sent letter stays open; sending it again is like a
 * redelivery.
 */
export function createRedrive({
  pool,
  readLetters,
  producer,
  topicPrefix,
  clock,
}: RedriveDependencies): Redrive {
  /** The problem when Kafka rejects it permanently. */
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
      const records = await readLetters(sendable)
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

function gone({ id }: DeadLetter): Problem {
  return new Problem(410, 'DEAD_LETTER_GONE', `${id}: Kafka keeps its record no longer`)
}

/** Why a letter is not sent; null when it was sent before. */
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
