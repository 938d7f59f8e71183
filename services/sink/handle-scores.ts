import type { BatchHandler } from '#runtime/kafka/records.ts'
import { traceByValue } from '#runtime/kafka/trace-handlers.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { deadLetter, ok } from '#runtime/outcome.ts'
import type { TraceContext } from '#runtime/tracing/tracing.ts'
import { isSilentProbe } from '#schemas/redteam-run.ts'
import type { ScoredCall } from '#schemas/safety-score-recorded.ts'
import type { EventTraces } from './event-traces.ts'
import { createOverflowCounter } from './steps/count-overflow.ts'
import { makeScoreLine, type ScoreLine } from './steps/make-score-line.ts'
import { makeThreatEvent } from './steps/make-threat-event.ts'
import { checkScoredCall, placeScores, type PlacedScore } from './steps/place-score.ts'
import type { StoredScores, ScoreStore } from './stores/score-store.ts'
import type { AwaitCalls } from './steps/await-calls.ts'

export interface ScoreHandlerDependencies {
  scores: ScoreStore
  /** Writes the structured log line of one score to standard output. */
  writeLine: (line: ScoreLine) => void
  /** Called when events wait in the outbox. */
  onEvents: () => void
  /** Asked when a score has no call. */
  awaitCalls: AwaitCalls
  /** Undefined where traces are off. */
  eventTraces?: EventTraces | undefined
  dashboardUrl: string
  log: Log
  metrics: Metrics
}

/**
 * Stores scores with their events, then writes a line for each new one. Events are made of the stored score
 * in the same transaction, so a verdict and its event never disagree. Scores whose call may still arrive wait
 * for it.
 */
export function createScoreHandler(dependencies: ScoreHandlerDependencies): BatchHandler<ScoredCall> {
  const { scores, writeLine, onEvents, awaitCalls, eventTraces, dashboardUrl, metrics } = dependencies
  const counter = metrics.counter('sluice_sink_scores_total', 'Scores by what became of them', ['fate'])
  const overflow = metrics.counter(
    'sluice_sink_findings_overflow_scores_total',
    'Failing scores whose projects had no room for their findings',
  )
  const threatsOf = (added: readonly PlacedScore[], traceOf: TraceOf) =>
    added.filter(isThreat).map(({ call, score, suppressions, finding }) => {
      const marks = { isSuppressed: suppressions.length > 0, finding }
      const event = makeThreatEvent(call, score, dashboardUrl, marks)
      eventTraces?.note(event.id, traceOf(call))
      return event
    })
  const countOverflow = createOverflowCounter(dependencies)

  async function store(
    placed: readonly PlacedScore[],
    partition: number,
    traceOf: TraceOf,
  ): Promise<StoredScores> {
    const stored = await scores.store(placed, partition, (added) => threatsOf(added, traceOf))
    countOverflow('scores', stored.overflowCount)
    overflow.inc(stored.findingOverflow)
    for (const { call, score } of stored.added) writeLine(makeScoreLine(call, score))
    if (stored.eventCount > 0) onEvents()
    counter.inc({ fate: 'stored' }, stored.added.length)
    return stored
  }

  return async (batch, signal) => {
    const { records, position } = batch
    const traceOf = traceByValue(batch)
    const errors = records.map(({ value }) => checkScoredCall(value))
    const placed = records.flatMap(({ value }, index) =>
      errors[index] === undefined ? placeScores(value) : [],
    )
    const first = await store(placed, position.partition, traceOf)
    const second =
      first.missed > 0 && (await awaitCalls(signal))
        ? await store(placed, position.partition, traceOf)
        : undefined
    const missed = (second ?? first).missed
    counter.inc({ fate: 'no_request' }, missed)
    counter.inc(
      { fate: 'repeated' },
      placed.length - first.added.length - (second?.added.length ?? 0) - missed,
    )
    return errors.map((error) => (error === undefined ? ok() : deadLetter(error)))
  }
}

type TraceOf = (call: ScoredCall) => TraceContext | undefined

function isThreat({ call, score }: PlacedScore): boolean {
  return call.raise_events && score.score_label === 'unsafe' && !isSilentProbe(call)
}
