import type { Kafka } from 'kafkajs'
import type { Clock } from '#runtime/clock.ts'
import { hasPassed, readGroupOffsets } from '#runtime/kafka/read-group-offsets.ts'
import { Interrupted } from '#runtime/kafka/retry-policy.ts'
import type { Log } from '#runtime/log.ts'

export interface CallAwaitingDependencies {
  kafka: Kafka
  /** The topic of all calls, and the group that stores them. */
  topic: string
  groupId: string
  clock: Clock
  log: Log
}

/** Resolves to whether calls may have been stored meanwhile. Throws Interrupted when `signal` aborts. */
export type AwaitCalls = (signal: AbortSignal) => Promise<boolean>

const lookAgainMs = 500

/**
 * A score follows its call, except after a database was restored from a backup: both then come again from
 * Kafka side by side, and an early score would be lost. Sinks are stopped for a restore (docs/backup.md), so
 * the missing calls were logged before they started. Once in a process, at its first score without a call,
 * this waits until the calls now on the topic are stored. After that a missing call was erased.
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
