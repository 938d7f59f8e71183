import type { Kafka } from 'kafkajs'
import { passQueues, type Queue, type QueueEnds } from '../follow-queues.ts'

/**
 * Each call looks how far a chain of queues has come. Resolves to a time: what was published before it has
 * been handled by all of them. Undefined until known. What is published later is waited for in the next turn,
 * so in a busy system the time is up to two calls per queue old.
 */
export function createHandledUntil(
  kafka: Kafka,
  queues: readonly Queue[],
  now: () => Promise<Date>,
): () => Promise<number | undefined> {
  let untilMs: number | undefined
  let next: { fromMs: number; awaited?: QueueEnds } | undefined
  return async () => {
    // Before any ends are read.
    next ??= { fromMs: (await now()).getTime() }
    const { fromMs } = next
    const awaited = await passQueues(kafka, queues, next.awaited)
    next = awaited && { fromMs, awaited }
    if (next === undefined) untilMs = fromMs
    return untilMs
  }
}
