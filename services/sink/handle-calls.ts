import type { Clock } from '#runtime/clock.ts'
import { PermanentError } from '#runtime/errors.ts'
import type { Batch, BatchHandler, ConsumedRecord } from '#runtime/kafka/records.ts'
import { traceByValue } from '#runtime/kafka/trace-handlers.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { deadLetter, ok, type Outcome } from '#runtime/outcome.ts'
import type { TraceContext } from '#runtime/tracing/tracing.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { createOverflowCounter } from './steps/count-overflow.ts'
import { checkIdentity } from './steps/check-identity.ts'
import type { Disposition } from './steps/decide-dispositions.ts'
import { makeScoreJob } from './steps/make-score-job.ts'
import { placeCall, type PlacedCall } from './steps/place-call.ts'
import type { CallStore, CallTopicKind } from './stores/call-store.ts'
import { dayOf, type DayPartitions } from './stores/day-partitions.ts'

export interface CallHandlerDependencies {
  /** Which of the two topics of calls it is. */
  kindOf: (topic: string) => CallTopicKind
  partitions: DayPartitions
  calls: CallStore
  /** Resolves once Kafka has the jobs. `traces`: what each goes on. */
  publishJobs: (
    jobs: readonly ScoreJob[],
    kind: CallTopicKind,
    traces: readonly (TraceContext | undefined)[],
  ) => Promise<void>
  /** Called when events wait in the outbox. */
  onEvents: () => void
  clock: Clock
  log: Log
  metrics: Metrics
}

/**
 * Stores a partition's calls, then queues each for scoring. A job exists only for a stored call, and the
 * runtime moves the offset only once Kafka has the jobs: a crash in between repeats work and loses nothing.
 */
export function createCallHandler(dependencies: CallHandlerDependencies): BatchHandler<LoggedCall> {
  const { kindOf, partitions, calls, publishJobs, onEvents, clock, metrics } = dependencies
  const dispositionCounter = metrics.counter('sluice_sink_calls_total', 'Calls by what became of them', [
    'fate',
  ])
  const rowCounter = metrics.counter('sluice_sink_rows_total', 'Rows of llm_requests written')
  const countOverflow = createOverflowCounter(dependencies)
  return async (batch) => {
    const kind = kindOf(batch.position.topic)
    const traceOf = traceByValue(batch)
    const { placed, outcomes } = await placeCalls(batch, kind, partitions)
    const stored = await calls.store(placed, batch.position, kind)
    const { dispositions, rowCount, eventCount } = stored
    if (eventCount > 0) onEvents()
    const toScore = placed.filter(({ call }, index) => needsJob(call, dispositions[index], kind))
    await publishJobs(
      toScore.map(({ call }) => makeScoreJob(call, clock.now())),
      kind,
      toScore.map(({ call }) => traceOf(call)),
    )
    rowCounter.inc(rowCount)
    countOverflow('calls', stored.overflowCount)
    countOverflow('users', stored.overflowUsers)
    countOverflow('tools', stored.leftOutTools)
    for (const disposition of dispositions) dispositionCounter.inc({ fate: disposition })
    return outcomes
  }
}

/** A zero-retention call on the kept topic has no bodies: its twin on the ephemeral topic makes the job. */
function needsJob(call: LoggedCall, disposition: Disposition | undefined, kind: CallTopicKind): boolean {
  return (
    (disposition === 'stored' || disposition === 'redelivered') &&
    (kind === 'ephemeral' || !call.zero_content_retention)
  )
}

/** Sets apart the records that no table can take; the others in their order. */
async function placeCalls(
  batch: Batch<LoggedCall>,
  kind: CallTopicKind,
  partitions: DayPartitions,
): Promise<{ placed: PlacedCall[]; outcomes: Outcome[] }> {
  const errors = batch.records.map(({ value }) => checkIdentity(value.project_id, value.id))
  const candidates = batch.records.map((record, index) =>
    errors[index] === undefined ? placeCall(withRetentionOf(kind, record)) : undefined,
  )
  const days = new Set(candidates.flatMap((call) => (call === undefined ? [] : [dayOf(call.createdAtMs)])))
  const writable = await partitions.writable(days)
  const outcomes = candidates.map((call, index) => {
    const error = errors[index] ?? (call === undefined ? undefined : noPartition(call, writable))
    return error === undefined ? ok() : deadLetter(error)
  })
  const placed = candidates.filter((call, index) => call !== undefined && outcomes[index]?.kind === 'ok')
  return { placed: placed as PlacedCall[], outcomes }
}

/** What comes by the ephemeral topic is never kept, whatever the record says of itself. */
function withRetentionOf(
  kind: CallTopicKind,
  record: ConsumedRecord<LoggedCall>,
): ConsumedRecord<LoggedCall> {
  if (kind === 'kept' || record.value.zero_content_retention) return record
  return { ...record, value: { ...record.value, zero_content_retention: true } }
}

function noPartition({ createdAtMs }: PlacedCall, writable: ReadonlySet<string>): PermanentError | undefined {
  const day = dayOf(createdAtMs)
  if (writable.has(day)) return undefined
  return new PermanentError(
    'NO_PARTITION',
    `the request's identifier is of ${day}, for which there is no partition`,
  )
}
