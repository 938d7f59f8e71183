import { idFromUuid, idTimeMs, idToUuid } from '#schemas/ids.ts'
import type { redteamAttemptStates, RedteamTransformation, RedteamVerdict } from '#schemas/redteam-run.ts'
import { sealedBodiesOf, type SealedBodyColumns, type SealedBytes } from '#schemas/sealed-bytes.ts'
import type { Severity } from '#schemas/verdicts.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

export interface RedteamAttempt {
  number: number
  request_id: string
  probe_id: string
  category: string
  scorer: string
  judged_by: string[]
  transformation: RedteamTransformation
  repeat: number
  state: (typeof redteamAttemptStates)[number]
  verdict: RedteamVerdict | null
  severity: Severity | null
  failed_by: string[] | null
  found_in: string | null
  detected: boolean | null
  reason: string | null
  status_code: number | null
  latency_ms: number | null
  cost_usd: number | null
}

export interface AttemptFilters {
  verdict?: RedteamVerdict | undefined
  category?: string | undefined
  probe_id?: string | undefined
  transformation?: RedteamTransformation | undefined
}

/** The entry of another tool's report that an attempt was imported from. */
export type AttemptOrigin = Record<string, unknown> | null

type AttemptRow = RedteamAttempt & { origin: AttemptOrigin }

const columns = `a.number, a.request_id, a.probe_id, a.category, a.scorer, a.judged_by, a.transformation, a.repeat, a.state, a.verdict,
  a.severity, a.failed_by, case when a.verdict = 'fail' then coalesce(a.found_in, a.request_id) end as found_in, a.detected, a.reason, a.status_code, a.latency_ms, a.cost_usd`

/** Attempts of a run after `after`, in the order of its plan. */
export async function listAttempts(
  database: ProjectDatabase,
  runId: string,
  filters: AttemptFilters,
  { after, limit }: { after: number; limit: number },
): Promise<RedteamAttempt[]> {
  const rows = await database.query<RedteamAttempt>(
    `select ${columns} from redteam_attempts a where :scope(a) and a.run_id = $2 and a.number > $3
       and ($4::text is null or a.verdict = $4) and ($5::text is null or a.category = $5) and ($6::text is null or a.probe_id = $6)
       and ($7::text is null or a.transformation = $7) order by a.number limit $8`,
    [
      idToUuid(runId),
      after,
      filters.verdict ?? null,
      filters.category ?? null,
      filters.probe_id ?? null,
      filters.transformation ?? null,
      limit,
    ],
  )
  return rows.map(attemptOf)
}

/** Counts of judged attempts by category, probe and transformation. */
export interface AttemptGroup {
  category: string
  probe_id: string
  transformation: RedteamTransformation
  passed: number
  failed: number
  unscored: number
  critical: number
  detected: number
}

/** At most the run's probes times its transformations. */
export function groupAttempts(database: ProjectDatabase, runId: string): Promise<AttemptGroup[]> {
  return database.query<AttemptGroup & Record<string, unknown>>(
    `select a.category, a.probe_id, a.transformation, count(*) filter (where a.verdict = 'pass')::integer as passed,
       count(*) filter (where a.verdict = 'fail')::integer as failed, count(*) filter (where a.verdict = 'unscored')::integer as unscored,
       count(*) filter (where a.verdict = 'fail' and a.severity = 'critical')::integer as critical,
       count(*) filter (where a.detected)::integer as detected
     from redteam_attempts a where :scope(a) and a.run_id = $2 and a.state = 'judged' group by 1, 2, 3 order by 1, 2, 3`,
    [idToUuid(runId)],
  )
}

export interface AttemptBodies {
  request: SealedBytes | null
  response: SealedBytes | null
}

/** An attempt with the stored bodies of the call that failed, otherwise of its last; null once erased. */
export interface AttemptWithBodies {
  attempt: RedteamAttempt
  origin: AttemptOrigin
  bodies: AttemptBodies | null
}

interface BodyRow extends AttemptRow, SealedBodyColumns {}

/** The next judged attempts with their bodies. */
export async function attemptsWithBodies(
  database: ProjectDatabase<OneProject>,
  runId: string,
  options: { after: number; limit: number; verdict?: RedteamVerdict },
): Promise<AttemptWithBodies[]> {
  const rows = await database.query<BodyRow & Record<string, unknown>>(
    `select ${columns}, a.origin, b.request_codec, b.request_key_id, b.request_data, b.response_codec, b.response_key_id, b.response_data
     from redteam_attempts a left join llm_request_bodies b
       on b.project_id = a.project_id and b.request_id = coalesce(a.found_in, a.request_id) and b.created_at = $3
     where :scope(a) and a.run_id = $2 and a.state = 'judged' and a.number > $4 and ($5::text is null or a.verdict = $5)
     order by a.number limit $6`,
    [idToUuid(runId), new Date(idTimeMs(runId)), options.after, options.verdict ?? null, options.limit],
  )
  return rows.map((row) => ({ attempt: attemptOf(row), origin: row.origin, bodies: bodiesOf(row) }))
}

function bodiesOf(row: BodyRow): AttemptBodies | null {
  const bodies = sealedBodiesOf(row)
  return bodies.request === null && bodies.response === null ? null : bodies
}

function attemptOf(row: RedteamAttempt): RedteamAttempt {
  return {
    number: row.number,
    request_id: idFromUuid('request', row.request_id),
    probe_id: row.probe_id,
    category: row.category,
    scorer: row.scorer,
    judged_by: row.judged_by,
    transformation: row.transformation,
    repeat: row.repeat,
    state: row.state,
    verdict: row.verdict,
    severity: row.severity,
    failed_by: row.failed_by,
    found_in: row.found_in === null ? null : idFromUuid('request', row.found_in),
    detected: row.detected,
    reason: row.reason,
    status_code: row.status_code,
    latency_ms: row.latency_ms,
    cost_usd: row.cost_usd,
  }
}
