import type { ClientBase } from 'pg'
import type { ScoreLabel, Severity } from '#schemas/verdicts.ts'
import type { VerdictChange } from '../steps/count-scores.ts'
import { joinVerdicts, type Verdict } from '../steps/fold-verdicts.ts'
import { timeBounds } from './time-bounds.ts'

interface StoredVerdict {
  project_id: string
  request_id: string
  worst_label: ScoreLabel
  worst_severity: Severity | null
  score_count: number
}

const identityOf = (projectId: string, requestId: string) => `${projectId}/${requestId}`

/**
 * Joins verdicts to those of their requests, and returns what changed. One statement if all scores of a
 * request come in one record, as usual. An existing verdict is read under its lock, so the returned changes
 * are exact.
 */
export async function moveVerdicts(
  client: ClientBase,
  verdicts: readonly Verdict[],
): Promise<VerdictChange[]> {
  if (verdicts.length === 0) return []
  const { rows: made } = await client.query<Pick<StoredVerdict, 'project_id' | 'request_id'>>(
    `insert into request_verdicts (project_id, request_id, request_created_at, worst_label, worst_severity, score_count)
     select * from ${verdictRows} on conflict do nothing returning project_id, request_id`,
    valuesOf(verdicts),
  )
  const isNew = new Set(made.map((row) => identityOf(row.project_id, row.request_id)))
  const isFresh = ({ projectUuid, requestUuid }: Verdict) => isNew.has(identityOf(projectUuid, requestUuid))
  const fresh = verdicts.filter(isFresh)
  const known = verdicts.filter((verdict) => !isFresh(verdict))
  const changes: VerdictChange[] = fresh.map((after) => ({ of: after, before: undefined, after }))
  return known.length === 0 ? changes : [...changes, ...(await joinKnown(client, known))]
}

async function joinKnown(client: ClientBase, known: readonly Verdict[]): Promise<VerdictChange[]> {
  const bounds = timeBounds(known, ({ requestCreatedAtMs }) => requestCreatedAtMs)
  const { rows } = await client.query<StoredVerdict>(
    `select v.* from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as wanted (project_id, request_id, request_created_at)
     join request_verdicts v using (project_id, request_id, request_created_at)
     where v.request_created_at between $4 and $5 order by 1, 2, 3 for update of v`,
    [...valuesOf(known).slice(0, 3), ...bounds],
  )
  const stored = new Map(rows.map((row) => [identityOf(row.project_id, row.request_id), row]))
  const changes = known.flatMap((verdict) => {
    const row = stored.get(identityOf(verdict.projectUuid, verdict.requestUuid))
    // Erased in between.
    if (row === undefined) return []
    const before = {
      worstLabel: row.worst_label,
      worstSeverity: row.worst_severity,
      scoreCount: row.score_count,
    }
    const after = joinVerdicts(verdict, before)
    return [{ of: after, before, after }]
  })
  await client.query(
    `update request_verdicts v set worst_label = n.worst_label, worst_severity = n.worst_severity, score_count = n.score_count
     from ${verdictRows} where v.project_id = n.project_id and v.request_id = n.request_id and v.request_created_at = n.request_created_at
       and v.request_created_at between $7 and $8`,
    [...valuesOf(changes.map(({ after }) => after)), ...bounds],
  )
  return changes
}

const verdictRows = `unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::integer[])
  as n (project_id, request_id, request_created_at, worst_label, worst_severity, score_count)`

function valuesOf(verdicts: readonly Verdict[]): unknown[] {
  return [
    verdicts.map(({ projectUuid }) => projectUuid),
    verdicts.map(({ requestUuid }) => requestUuid),
    verdicts.map(({ requestCreatedAtMs }) => new Date(requestCreatedAtMs)),
    verdicts.map(({ worstLabel }) => worstLabel),
    verdicts.map(({ worstSeverity }) => worstSeverity),
    verdicts.map(({ scoreCount }) => scoreCount),
  ]
}
