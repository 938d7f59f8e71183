import type { PriceTable } from '#capture/price-table.ts'
import type { Clock } from '#runtime/clock.ts'
import { SluiceError } from '#runtime/errors.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { createTakeTurn, type TakeTurn } from '#runtime/take-turns.ts'
import { traceContextOf, type Span } from '#runtime/tracing/tracing.ts'
import { newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { requestLimitOf } from '#schemas/tiers.ts'
import type { KeyDirectory } from '#http/access/key-directory.ts'
import { projectOfKey, type Principal, type ProjectSettings } from '#http/access/principal.ts'
import { invalidInput, Problem, unavailable } from '#http/problem.ts'
import { readOrProblem, readRecords, type ReadRecord } from './record/read-record.ts'
import type { Admit } from './steps/admit-together.ts'
import { describeRecord } from '#capture/record/describe-record.ts'
import type { Masking } from './steps/mask-records.ts'
import { applyKeyLimits } from './steps/apply-key-limits.ts'
import type { PublishCall } from './steps/publish-call.ts'
import type { Admission } from './stores/quota-store.ts'

/** The identifier under which Kafka has the record, or why it has not. */
export type LogResult = { id: string; isLeftOut?: true } | Problem

/**
 * Publishes records of one caller, given as JSON. Returns one result each, in order: a bad record does not
 * fail its neighbours. Throws for bytes that are not JSON, and whatever `beforeAny` throws.
 */
export type LogCalls = (
  principal: Principal,
  records: readonly Buffer[],
  request?: LogRequest,
) => Promise<LogResult[]>

interface LogRequest {
  /** Gets the refusals before anything is counted or published; null: not refused. */
  beforeAny?: (refused: readonly (Problem | null)[]) => void
  /** Of the request, where traces are on. */
  span?: Span | undefined
  /** Only checks and counts: the records are published later, under the same ids. */
  publishLater?: boolean
}

export interface LogCallsDependencies {
  keys: KeyDirectory
  admit: Admit
  publish: PublishCall
  /** Absent: no project masks. */
  masking?: Pick<Masking, 'mask'>
  prices: PriceTable
  clock: Clock
  maxRecordBytes: number
  metrics: Metrics
}

interface Accepted extends ReadRecord {
  id: string
  project: ProjectSettings
}

/** A valid record that its key has recorded nowhere. */
interface LeftOut {
  id: string
  isLeftOut: true
}

/** Order matters: only valid records are counted, and only counted ones are published. */
export function createLogCalls(dependencies: LogCallsDependencies): LogCalls {
  const outcomes = countOutcomes(dependencies.metrics)
  const { clock, maxRecordBytes } = dependencies
  // One for all batches: a thousand batches with their own would each take a turn in every round.
  const takeTurn = createTakeTurn()
  return async (principal, records, { beforeAny, span, publishLater = false } = {}) => {
    const read = await readRecords(records, maxRecordBytes, clock.now(), takeTurn)
    const accepted = await Promise.all(
      read.map((record, index) => orProblem(() => accept(dependencies, principal, record, records[index]))),
    )
    beforeAny?.(accepted.map((record) => (record instanceof Problem ? record : null)))
    const admissions = await admitByProject(dependencies.admit, accepted.filter(isAccepted))
    const send = publishLater ? { ...dependencies, publish: () => Promise.resolve() } : dependencies
    const results = await inTurns(accepted, takeTurn, async (record) =>
      isAccepted(record)
        ? withRetryId(record.id, await orProblem(() => publish(send, record, admissions, span)))
        : record,
    )
    outcomes(publishLater ? results.filter((result) => result instanceof Problem) : results)
    return results
  }
}

/**
 * Starts the work in turns and waits for all: sealing a thousand records at once would block the event loop.
 */
async function inTurns<T, R>(
  all: readonly T[],
  takeTurn: TakeTurn,
  work: (one: T) => Promise<R>,
): Promise<R[]> {
  const begun: Promise<R>[] = []
  for (const one of all) {
    if (begun.length > 0) await takeTurn()
    const result = work(one)
    // Awaited below. Until then a rejection must not end the process.
    result.catch(() => undefined)
    begun.push(result)
  }
  return await Promise.all(begun)
}

/** Counts each record: the status of a batch does not show them. */
function countOutcomes(metrics: Metrics) {
  const records = metrics.counter(
    'sluice_ingest_records_total',
    'Records by what was answered: `queued`, `left_out` (their key has nothing recorded), or the code of the refusal.',
    ['outcome'],
  )
  // Alerts use increases, which need the series to exist first.
  for (const outcome of ['queued', 'left_out', 'INGEST_QUOTA_EXCEEDED']) records.inc({ outcome }, 0)
  return (results: readonly LogResult[]) => {
    for (const result of results) records.inc({ outcome: outcomeOf(result) })
  }
}

function outcomeOf(result: LogResult): string {
  if (result instanceof Problem) return result.code
  return result.isLeftOut === undefined ? 'queued' : 'left_out'
}

async function accept(
  dependencies: LogCallsDependencies,
  principal: Principal,
  read: ReadRecord | Problem,
  json: Buffer | undefined,
): Promise<Accepted | LeftOut> {
  const { keys, clock } = dependencies
  if (read instanceof Problem) throw read
  const { project_id: projectId, source, id } = read.call.fields
  const project = await projectOf(keys, principal, projectId)
  if (source === 'redteam' && principal.kind !== 'operator')
    throw invalidInput([
      { path: 'source', message: 'redteam is for the operator alone: such calls count toward no quota' },
    ])
  const kept = project.masks === true ? await readMasked(dependencies, json, project) : read
  const accepted = { ...kept, id: id ?? newId('request', clock.now()), project }
  const limits = principal.kind === 'key' ? principal.key.limits : undefined
  if (limits === undefined) return accepted
  return applyKeyLimits(accepted, limits) ?? { id: accepted.id, isLeftOut: true }
}

/** Nothing made of the record before it was masked is used. */
async function readMasked(
  { masking, maxRecordBytes, clock }: LogCallsDependencies,
  json: Buffer | undefined,
  { projectId }: ProjectSettings,
): Promise<ReadRecord> {
  if (json === undefined || masking === undefined) throw new Error('the record cannot be masked')
  const masked = await masking.mask(json, projectId)
  // Placeholders may be longer than what they replace.
  const maxBytes = Math.max(maxRecordBytes, masked.length)
  const read = readOrProblem(masked, maxBytes, clock.now())
  if (read instanceof Problem) throw read
  return read
}

async function projectOf(
  keys: KeyDirectory,
  principal: Principal,
  projectId: string | undefined,
): Promise<ProjectSettings> {
  if (principal.kind === 'key') return projectOfKey(principal.key, projectId)
  if (projectId === undefined) {
    throw invalidInput([{ path: 'project_id', message: 'is required when the operator logs a call' }])
  }
  const project = await keys.findProject(projectId)
  if (project === undefined) throw invalidInput([{ path: 'project_id', message: 'there is no such project' }])
  return project
}

type Admissions = ReadonlyMap<string, Admission | Problem>

async function admitByProject(admit: Admit, records: readonly Accepted[]): Promise<Admissions> {
  // Unlimited tiers claim nothing: the sink moves their counter. The red team's calls do not count as the
  // project's.
  const limited = records.filter(
    ({ project, call }) => requestLimitOf[project.tier] !== null && call.fields.source !== 'redteam',
  )
  const groups = Map.groupBy(limited, ({ project }) => project.projectId)
  const admitted = [...groups].map(async ([projectId, group]): Promise<[string, Admission | Problem]> => {
    const ids = group.map(({ id }) => id)
    return [projectId, await orProblem(() => admit(projectId, ids))]
  })
  return new Map(await Promise.all(admitted))
}

async function publish(
  { publish: send, prices, clock }: LogCallsDependencies,
  { id, project, call: read, ...bodies }: Accepted,
  admissions: Admissions,
  span: Span | undefined,
): Promise<{ id: string }> {
  // A record that claims nothing is independent of its neighbours' admission.
  const admission = read.fields.source === 'redteam' ? undefined : admissions.get(project.projectId)
  if (admission instanceof Problem) throw admission
  if (admission !== undefined && !admission.admitted.has(id)) throw overQuota(project, admission, clock.now())
  const call: LoggedCall = {
    ...describeRecord(read, project, admission?.tier ?? project.tier, prices),
    id,
    request_body: null,
    response_body: null,
    received_at: clock.now(),
    preview: null,
    search: null,
  }
  await send(call, { ...bodies, preview: read.preview }, span?.parentFor(traceContextOf(read.fields)))
  return { id }
}

/** After a 503 Kafka may have the record. Sent again under another id, it would be stored twice. */
function withRetryId(id: string, result: LogResult): LogResult {
  return result instanceof Problem && result.status === 503 ? result.withFields({ retry_id: id }) : result
}

function overQuota({ projectId }: ProjectSettings, admission: Admission, nowMs: number): Problem {
  const limit = (admission.limit ?? 0).toLocaleString('en')
  const resetsAt = new Date(admission.periodResetAtMs).toISOString()
  return new Problem(
    429,
    'INGEST_QUOTA_EXCEEDED',
    `project ${projectId} has used its ${limit} requests ${namePeriod(admission.periodStartMs)}; the period resets at ${resetsAt}`,
    {
      headers: { 'retry-after': String(Math.max(1, Math.ceil((admission.periodResetAtMs - nowMs) / 1000))) },
    },
  )
}

const monthName = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** A quota's period in words: `for November 2026`. A subscription's period may begin on any day. */
export function namePeriod(startMs: number): string {
  const start = new Date(startMs)
  const isMonth = startMs === Date.UTC(start.getUTCFullYear(), start.getUTCMonth())
  return isMonth ? `for ${monthName.format(start)}` : `since ${start.toISOString()}`
}

function isAccepted(record: Accepted | LeftOut | Problem): record is Accepted {
  return !(record instanceof Problem || 'isLeftOut' in record)
}

/** Throws a Problem: of an unavailable dependency, 503. */
export async function orThrow<T>(work: () => Promise<T>): Promise<T> {
  const result = await orProblem(work)
  if (result instanceof Problem) throw result
  return result
}

/** Returns problems; an unavailable dependency is a 503; any other error fails the request. */
async function orProblem<T>(work: () => Promise<T>): Promise<T | Problem> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Problem) return error
    if (error instanceof SluiceError && error.retry === 'later') {
      return unavailable(
        'STORAGE_UNAVAILABLE',
        'the call cannot be taken at the moment; send it again with the same id',
        error,
      )
    }
    throw error
  }
}
