import { evaluationEvents, isEvaluation } from '#capture/otel/evaluations.ts'
import { readSpans, type Span } from '#capture/otel/read-spans.ts'
import { callIdOf, recordOfSpan } from '#capture/otel/span-record.ts'
import { labelsOfCalls, spansOfCalls } from '#capture/otel/spans-of-calls.ts'
import { awaitsWords, joinCalls, waitingSpan, type WaitingCall } from '#capture/otel/waiting-call.ts'
import { Problem } from '#http/problem.ts'
import { noLimits } from '#schemas/key-limits.ts'
import { orThrow, type LogCalls, type LogResult } from '../log-calls.ts'
import { maxRecords } from '../record/split-batch.ts'
import type { WaitingCallStore } from '../stores/waiting-call-store.ts'
import type { Export, OtlpOptions, Take } from './otlp-export.ts'

type Outcome = 'recorded' | 'waiting' | 'not_a_call' | 'evaluation' | 'unreadable' | 'late' | 'refused'

interface CallSpan {
  record: Buffer
  /** What waits for its words; null: nothing, it is recorded at once. */
  waiting: { id: string; call: WaitingCall } | null
}

/** Records the spans of models and tools. Those whose words may come as log records wait for them. */
export function createTakeSpans({ logCalls, waitingCalls, recordBytes, metrics }: OtlpOptions): Take {
  const spans = metrics.counter(
    'sluice_ingest_spans_total',
    'Spans by what became of them: `recorded`, `waiting` for their words, `not_a_call` or `evaluation` (both dropped), `unreadable`, `late` or `refused`. Results of evaluations on events of spans count as `evaluation` too.',
    ['outcome'],
  )
  return async ({ request, principal, reserveBodyBudget }) => {
    const { project, limits = noLimits } = principal.key
    const { projectId } = project
    const mayWait = limits.capture === 'full' && waitingCalls.takesOf(project)
    const { calls, ...dropped } = readCalls(request, projectId, mayWait)
    reserveBodyBudget(calls.length * recordBytes)
    const [atOnce, waiting] = [calls.filter((call) => !isWaiting(call)), calls.filter(isWaiting)]
    const results = await logInBatches(logCalls, principal, atOnce)
    const waits = await wait({ logCalls, waitingCalls, principal }, waiting)
    const all = [...results, ...waits.results]
    const { refused, outcomes } = countResults(all, dropped)
    for (const [outcome, times] of Object.entries({ ...outcomes, waiting: waits.count }))
      spans.inc({ outcome }, times)
    if (waits.count === 0 && refused.length === all.length) throwOverQuota(refused)
    return [...dropped.unreadable, ...refused.map(({ message }) => message)]
  }
}

const isWaiting = (call: CallSpan): call is CallSpan & { waiting: object } => call.waiting !== null

interface Dropped {
  unreadable: string[]
  /** Spans that are results of evaluations, and such events. */
  evaluations: { spans: number; events: number }
  /** Spans of neither a model nor a tool. */
  others: number
}

function readCalls(request: unknown, projectId: string, mayWait: boolean): Dropped & { calls: CallSpan[] } {
  const [spans, unreadable]: [Span[], string[]] = [[], []]
  for (const read of readSpans(request)) {
    if ('span' in read) spans.push(read.span)
    else unreadable.push(read.fault)
  }
  const labelsOf = labelsOfCalls(spans)
  const calls = spansOfCalls(spans).flatMap((span): CallSpan[] => {
    const labels = labelsOf(span)
    const record = recordOfSpan(span, projectId, labels)
    if (record === null) return []
    const waits = mayWait && awaitsWords(span, record)
    const waiting = waits
      ? { id: callIdOf({ projectId, ...span }, 0), call: waitingSpan(span, labels) }
      : null
    return [{ record: Buffer.from(JSON.stringify(record)), waiting }]
  })
  const evaluations = {
    spans: spans.filter(isEvaluation).length,
    events: spans.reduce((sum, span) => sum + evaluationEvents(span), 0),
  }
  return { calls, unreadable, evaluations, others: spans.length - calls.length - evaluations.spans }
}

/** A batch is what `/internal/log/batch` takes. Each is published before the next is read. */
async function logInBatches(
  logCalls: LogCalls,
  principal: Export['principal'],
  calls: readonly CallSpan[],
  publishLater = false,
): Promise<LogResult[]> {
  const results: LogResult[] = []
  for (let at = 0; at < calls.length; at += maxRecords) {
    const records = calls.slice(at, at + maxRecords).map(({ record }) => record)
    results.push(...(await logCalls(principal, records, { publishLater })))
  }
  return results
}

interface Waits {
  /** Of those that do not wait. */
  results: LogResult[]
  count: number
}

/** Checked and counted now: the sender learns of a refusal. What finds no room is published at once. */
async function wait(
  {
    logCalls,
    waitingCalls,
    principal,
  }: { logCalls: LogCalls; waitingCalls: WaitingCallStore; principal: Export['principal'] },
  calls: readonly (CallSpan & { waiting: { id: string; call: WaitingCall } })[],
): Promise<Waits> {
  const checked = await logInBatches(logCalls, principal, calls, true)
  const accepted = calls.filter((_, index) => !(checked[index] instanceof Problem))
  const parts = new Map<string, WaitingCall>()
  for (const { waiting } of accepted) {
    const before = parts.get(waiting.id)
    parts.set(waiting.id, before === undefined ? waiting.call : joinCalls(before, waiting.call))
  }
  const outcomes = await orThrow(() => waitingCalls.add(principal.key.project.projectId, parts))
  const full = accepted.filter(({ waiting }) => outcomes.get(waiting.id) === 'full')
  const refused = checked.filter((result) => result instanceof Problem)
  return {
    results: [...refused, ...(await logInBatches(logCalls, principal, full))],
    count: accepted.length - full.length,
  }
}

/** Throws what stops the whole request: an exporter sends all of it again, under the same identifiers. */
function countResults(
  results: readonly LogResult[],
  { unreadable, evaluations, others }: Dropped,
): { refused: Problem[]; outcomes: Omit<Record<Outcome, number>, 'waiting'> } {
  const refused = results.filter((result) => result instanceof Problem)
  const lasting = refused.find(({ status }) => status === 503)
  if (lasting !== undefined) throw lasting
  const late = refused.filter(isLate).length
  const outcomes = {
    recorded: results.length - refused.length,
    not_a_call: others,
    evaluation: evaluations.spans + evaluations.events,
    unreadable: unreadable.length,
    late,
    refused: refused.length - late,
  }
  return { refused, outcomes }
}

function throwOverQuota(refused: readonly Problem[]): void {
  const [first] = refused
  if (first !== undefined && refused.every(({ status }) => status === 429)) throw first
}

/** Outside the time that identifiers may have. */
function isLate({ errors }: Problem): boolean {
  return errors?.some(({ path }) => path === 'id') === true
}
