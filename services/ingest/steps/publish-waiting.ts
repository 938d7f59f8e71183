import { recordOfCall, type WaitingCall } from '#capture/otel/waiting-call.ts'
import { Problem } from '#http/problem.ts'
import type { Clock } from '#runtime/clock.ts'
import { messageOf, TransientError } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import type { TakeTurn } from '#runtime/take-turns.ts'
import type { LogCalls, LogResult } from '../log-calls.ts'
import type { DueCall, WaitingCallStore } from '../stores/waiting-call-store.ts'
import { logRecordsCounter } from '../waiting-metrics.ts'

/** Publishes calls that waited for their words, when these are there or the wait is over. */
export interface WaitingPublisher {
  start(): void
  /** Finishes what is under way. */
  stop(): Promise<void>
}

interface PublisherOptions {
  store: WaitingCallStore
  logCalls: LogCalls
  clock: Clock
  log: Log
  metrics: Metrics
  takeTurn: TakeTurn
}

const idleMs = 500
const troubleMs = 5_000
const countEveryMs = 10_000

type Outcome = 'joined' | 'without_words' | 'without_span' | 'refused'

export function createWaitingPublisher(options: PublisherOptions): WaitingPublisher {
  const { store, clock, log } = options
  const meters = createMeters(options.metrics)
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  let countedAtMs = -Infinity

  /** Returns whether there was anything to do. One project's trouble does not stop the others. */
  async function round(): Promise<boolean> {
    const due = await store.findDue()
    const failures: unknown[] = []
    for (const projectId of due) {
      if (stopping.signal.aborted) return false
      await publishDue(options, meters, projectId).catch((error: unknown) => failures.push(error))
    }
    if (clock.now() - countedAtMs >= countEveryMs) {
      countedAtMs = clock.now()
      meters.report(await store.count())
    }
    if (failures.length > 0) throw new AggregateError(failures, messageOf(failures[0]))
    return due.length > 0
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const pauseMs = await round().then(
        (isBusy) => (isBusy ? 0 : idleMs),
        (error: unknown) => {
          log.warn({ err: error }, 'calls that waited for their words are not published; retrying')
          return troubleMs
        },
      )
      await clock.sleep(pauseMs, stopping.signal)
    }
  }

  return {
    start() {
      running ??= run()
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/** A part is deleted only when Kafka has its record. After a crash the same record is published again. */
async function publishDue(options: PublisherOptions, meters: Meters, projectId: string): Promise<void> {
  const { calls, spanless } = await options.store.take(projectId)
  meters.count('without_span', spanless)
  if (calls.length === 0) return
  const unopened = calls.filter(({ call }) => call === null).length
  if (unopened > 0)
    options.log.error({ projectId, calls: unopened }, 'the key of waiting calls is gone: they are lost')
  const published = await publishCalls(options, projectId, calls)
  const ended = published.filter(({ outcome }) => outcome !== null)
  const late = await options.store.markPublished(
    projectId,
    ended.map(({ due }) => due),
  )
  meters.logs.inc({ outcome: 'late' }, late)
  for (const { outcome } of ended) if (outcome !== null) meters.count(outcome, 1)
  if (ended.length < calls.length) throw new TransientError('QUEUE_UNAVAILABLE', 'Kafka or Postgres is away')
}

interface Published {
  due: DueCall
  /** Null: not yet. */
  outcome: Outcome | null
}

/** Words that cannot be recorded are left out: the call is still recorded. */
async function publishCalls(
  options: PublisherOptions,
  projectId: string,
  calls: readonly DueCall[],
): Promise<Published[]> {
  const whole = await logAll(options, projectId, calls, (call) => call)
  const refused = calls.filter((_, index) => isRefused(whole[index]))
  const bare = await logAll(options, projectId, refused, (call) => ({ ...call, logs: [] }))
  return calls.map((due, index) => {
    const again = refused.indexOf(due)
    const result = again < 0 ? whole[index] : bare[again]
    if (result instanceof Problem) return { due, outcome: isRefused(result) ? 'refused' : null }
    const hasWords = again < 0 && due.call !== null && due.call.logs.length > 0
    return { due, outcome: hasWords ? 'joined' : 'without_words' }
  })
}

async function logAll(
  { logCalls, takeTurn }: PublisherOptions,
  projectId: string,
  calls: readonly DueCall[],
  change: (call: WaitingCall) => WaitingCall,
): Promise<LogResult[]> {
  const records: Buffer[] = []
  for (const { call } of calls) {
    await takeTurn()
    const record = call === null ? null : recordOfCall(change(call), projectId)
    // What cannot be opened is no record, and refused as one.
    records.push(Buffer.from(JSON.stringify(record === null ? {} : { ...record, project_id: projectId })))
  }
  return records.length === 0 ? [] : logCalls({ kind: 'operator' }, records)
}

/** By any other problem than of a part that is away. */
function isRefused(result: LogResult | undefined): boolean {
  return result instanceof Problem && result.status !== 503
}

type Meters = ReturnType<typeof createMeters>

function createMeters(metrics: Metrics) {
  const counter = metrics.counter(
    'sluice_ingest_waiting_calls_total',
    'Calls that waited for their span or words, by how it ended: `joined`, `without_words` (recorded as not read), `without_span` (words dropped) or `refused`.',
    ['outcome'],
  )
  const waiting = metrics.gauge(
    'sluice_ingest_waiting_calls',
    'Calls that wait for their span or words.',
    [],
    'max',
  )
  const held = metrics.gauge('sluice_ingest_waiting_bytes', 'Bytes of waiting calls, opened.', [], 'max')
  return {
    logs: logRecordsCounter(metrics),
    count: (outcome: Outcome, times: number) => counter.inc({ outcome }, times),
    report({ calls, bytes }: { calls: number; bytes: number }) {
      waiting.set(calls)
      held.set(bytes)
    },
  }
}
