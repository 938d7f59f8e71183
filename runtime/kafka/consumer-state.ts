import type { Clock } from '../clock.ts'
import type { SluiceError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Health } from '../service.ts'
import { partitionKey, type Assigned } from './assignment.ts'
import type { ConsumerMetrics } from './consumer-metrics.ts'
import type { RawRecord } from './raw-record.ts'
import type { RetryContext, RetryPolicy } from './retry-policy.ts'

type Place = string | Pick<RawRecord, 'topic' | 'partition' | 'offset'>

/** What is being retried now, for health, log and metrics. */
export interface Troubles {
  /** A retry context that registers trouble under `place`, a name or a record, until `over(place)`. */
  context(place: Place, topic: string, signal: AbortSignal): RetryContext
  over(place: Place): void
  /** Why the cluster is not reached yet; undefined: it is. */
  waiting(reason: string | undefined): void
  health(phase: Health['status']): Health
}

export function createTroubles(options: {
  groupId: string
  policy: RetryPolicy
  clock: Clock
  log: Log
  metrics: ConsumerMetrics
}): Troubles {
  const { groupId, policy, clock, log, metrics } = options
  const known = new Map<Place, string>()
  let waitsFor: string | undefined
  return {
    context: (place, topic, signal) => ({
      policy,
      clock,
      signal,
      onRetry(error: SluiceError, attempt: number) {
        known.set(place, `${error.code}: ${error.message}`)
        metrics.retried(topic, error)
        const named = { attempt, attempts: policy.attempts, place: nameOf(place) }
        log.warn({ err: error, ...named }, 'transient failure, retrying')
      },
    }),
    over: (place) => void known.delete(place),
    waiting(reason) {
      waitsFor = reason
      metrics.waiting(reason !== undefined)
    },
    health(phase) {
      const [problem = waitsFor] = known.values()
      if (problem === undefined) return { status: phase }
      return { status: phase === 'ok' ? 'degraded' : phase, problems: { [groupId]: problem } }
    },
  }
}

/** Built only when it is needed, which is rare. */
function nameOf(place: Place): string {
  return typeof place === 'string' ? place : `${partitionKey(place)}@${place.offset.toString()}`
}

/**
 * Whether the error is a bug that only some content triggers. Its crash mark stays, so that after the third
 * try the record is dead-lettered as CRASHED and its partition goes on. A TypeError with a cause does not
 * count: that is how fetch reports a server that is away.
 */
export function isBug(error: unknown): boolean {
  const bug =
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError
  return bug && error.cause === undefined
}

/** Logs the records that the last consumer worked on when its process ended. */
export function reportSuspects(assigned: readonly Assigned[], log: Log): void {
  for (const { topic, partition, suspects } of assigned) {
    if (suspects === null) continue
    const { from, mark } = suspects
    const range = { from: from.toString(), until: mark.until.toString(), writers: mark.writers }
    log.warn(
      { topic, partition, ...range },
      'the previous consumer crashed: handling its records one at a time',
    )
  }
}
