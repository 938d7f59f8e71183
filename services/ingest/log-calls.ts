import type { PriceTable } from '#capture/price-table.ts'
import type { Clock } from '#runtime/clock.ts'
import { SluiceError } from '#runtime/errors.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { createTakeTurn, type TakeTurn } from '#runtime/take-turns.ts'
import { newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { requestLimitOf } from '#schemas/tiers.ts'
import type { KeyDirectory } from '#http/access/key-directory.ts'
import { projectOfKey, type Principal, type ProjectSettings } from '#http/access/principal.ts'
import { invalidInput, Problem, unavailable } from '#http/problem.ts'
import { readRecords, type ReadRecord } from './record/read-record.ts'
import type { Admit } from './steps/admit-together.ts'
import { describeRecord } from '#capture/record/describe-record.ts'
import { namePeriod } from './steps/name-period.ts'
import type { PublishCall } from './steps/publish-call.ts'
import type { Admission } from './stores/quota-store.ts'

/** What became of one record: the identifier under which Kafka has it, or why it has not. */
export type LogResult = { id: string } | Problem

/**
 * Takes records of one caller, as JSON; one result each, in their order. A bad record does not fail its neighbours: only what is no JSON is
 * thrown, and what `beforeAny` throws, which is told what is refused already (null: what will be taken, if it can be).
 */
export type LogCalls = (
  principal: Principal,
  records: readonly Buffer[],
  beforeAny?: (refused: readonly (Problem | null)[]) => void,
) => Promise<LogResult[]>

export interface LogCallsDependencies {
  keys: KeyDirectory
  admit: Admit
  publish: PublishCall
  prices: PriceTable
  clock: Clock
  maxRecordBytes: number
  metrics: Metrics
}

interface Accepted extends ReadRecord {
  id: string
  project: ProjectSettings
}

/** Order matters: only what is valid is counted, and only what is counted is published. */
export function createLogCalls(dependencies: LogCallsDependencies): LogCalls {
  const outcomes = countOutcomes(dependencies.metrics)
  const { clock, maxRecordBytes } = dependencies
  // One for all batches: a thousand that have each their own keep the event loop for as many turns at once.
  const takeTurn = createTakeTurn()
  return async (principal, records, beforeAny) => {
    const read = await readRecords(records, maxRecordBytes, clock.now(), takeTurn)
    const accepted = await Promise.all(
      read.map((record) => orProblem(() => accept(dependencies, principal, record))),
    )
    beforeAny?.(accepted.map((record) => (isAccepted(record) ? null : record)))
    const admissions = await admitByProject(dependencies.admit, accepted.filter(isAccepted))
    const results = await inTurns(accepted, takeTurn, async (record) =>
      isAccepted(record)
        ? withRetryId(record.id, await orProblem(() => publish(dependencies, record, admissions)))
        : record,
    )
    outcomes(results)
    return results
  }
}

/** Begins one after the other and waits for all together: to compress and encrypt a thousand records at once would stop everybody else. */
async function inTurns<T, R>(
  all: readonly T[],
  takeTurn: TakeTurn,
  work: (one: T) => Promise<R>,
): Promise<R[]> {
  const begun: Promise<R>[] = []
  for (const one of all) {
    if (begun.length > 0) await takeTurn()
    const result = work(one)
    // Heard below; one that fails before the last has begun would end the process until then.
    result.catch(() => undefined)
    begun.push(result)
  }
  return await Promise.all(begun)
}

/** In a batch each record has its own, which the status of the answer does not show. */
function countOutcomes(metrics: Metrics) {
  const records = metrics.counter(
    'sluice_ingest_records_total',
    'Records by what was answered: `queued`, or the code of the refusal.',
    ['outcome'],
  )
  // Alerts are about increases, which a series that begins at 1 does not have.
  for (const outcome of ['queued', 'INGEST_QUOTA_EXCEEDED']) records.inc({ outcome }, 0)
  return (results: readonly LogResult[]) => {
    for (const result of results) records.inc({ outcome: result instanceof Problem ? result.code : 'queued' })
  }
}

async function accept(
  { keys, clock }: LogCallsDependencies,
  principal: Principal,
  read: ReadRecord | Problem,
): Promise<Accepted> {
  if (read instanceof Problem) throw read
  const { project_id: projectId, source, id } = read.call.fields
  const project = await projectOf(keys, principal, projectId)
  if (source === 'redteam' && principal.kind !== 'operator')
    throw invalidInput([
      { path: 'source', message: 'redteam is for the operator alone: such calls count toward no quota' },
    ])
  return { ...read, id: id ?? newId('request', clock.now()), project }
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
  // Tiers without a limit claim nothing and need no database: their counter is moved by the sink.
  // The red team's calls are no use of the project's own, and claim nothing either.
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
): Promise<{ id: string }> {
  // What claims nothing is no matter of what its neighbours were told.
  const admission = read.fields.source === 'redteam' ? undefined : admissions.get(project.projectId)
  if (admission instanceof Problem) throw admission
  if (admission !== undefined && !admission.admitted.has(id)) throw overQuota(project, admission, clock.now())
  const call: LoggedCall = {
    ...describeRecord(read, project, admission?.tier ?? project.tier, prices),
    id,
    request_body: null,
    response_body: null,
    received_at: clock.now(),
  }
  await send(call, bodies)
  return { id }
}

/** Whether Kafka has it is not always known. Sent again under another id, a call would be there twice. */
function withRetryId(id: string, result: LogResult): LogResult {
  return result instanceof Problem && result.status === 503 ? result.telling({ retry_id: id }) : result
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

function isAccepted(record: Accepted | Problem): record is Accepted {
  return !(record instanceof Problem)
}

/** Problems are answers; what is only away becomes 503; anything else is a fault of ours and fails the request. */
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
