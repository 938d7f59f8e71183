import type { Kafka } from 'kafkajs'
import type { Clock } from '#runtime/clock.ts'
import { hasPassed, readGroupOffsets } from '#runtime/kafka/read-group-offsets.ts'
import { Interrupted } from '#runtime/kafka/retry-policy.ts'
import type { Log } from '#runtime/log.ts'

export interface CallAwaitingDependencies {
  kafka: Kafka
  /** Where every call is logged, and the group that stores them. */
  topic: string
  groupId: string
  clock: Clock
  log: Log
}

/** Resolves to whether calls may have been stored meanwhile. Throws Interrupted when `signal` aborts. */
export type AwaitCalls = (signal: AbortSignal) => Promise<boolean>

const lookAgainMs = 500

/**
 * A score follows its call, except into a database that was restored from a backup: there both come again from Kafka side by side, and a score that
 * came first would be lost. Sinks are stopped while that is done (docs/backup.md), so what they find missing was logged before they
 * started: once in the life of a process, at its first score without a call, it waits until what the topic of calls holds by then is stored.
 * After that a call that is missing was erased.
 */
export function createCallAwaiting({
  kafka,
  topic,
  groupId,
  clock,
  log,
}: CallAwaitingDependencies): AwaitCalls {
  let ends: ReadonlyMap<number, bigint> | undefined
  let isOver = false
  return async (signal) => {
    if (isOver) return false
    for (;;) {
      const offsets = await readGroupOffsets(kafka, topic, groupId)
      const isFirst = ends === undefined
      ends ??= offsets.ends
      if (hasPassed(offsets, ends)) break
      if (isFirst) log.warn({ topic }, 'scores wait until the calls that were logged before are stored')
      await clock.sleep(lookAgainMs, signal)
      if (signal.aborted) throw new Interrupted()
    }
    isOver = true
    return true
  }
}
