import type { ClientBase } from 'pg'
import type { VerdictChange } from '../steps/count-scores.ts'
import { joinVerdicts, type Verdict } from '../steps/fold-verdicts.ts'
import { timeBounds } from './time-bounds.ts'
import {
  foldedOf,
  keyValues,
  verdictColumns,
  verdictRows,
  verdictUpdates,
  verdictValues,
  type StoredScores,
} from './verdict-rows.ts'

interface StoredVerdict extends StoredScores {
  project_id: string
  request_id: string
  reading_revision: number | null
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
    `insert into request_verdicts (${verdictColumns}, reading_revision)
     select n.*, 1 from ${verdictRows} on conflict do nothing returning project_id, request_id`,
    verdictValues(verdicts),
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
    [...keyValues(known), ...bounds],
  )
  const stored = new Map(rows.map((row) => [identityOf(row.project_id, row.request_id), row]))
  const changes = known.flatMap((verdict) => {
    const row = stored.get(identityOf(verdict.projectUuid, verdict.requestUuid))
    // Erased in between.
    if (row === undefined) return []
    const before = foldedOf(row)
    const joined = joinVerdicts(verdict, before)
    // A reading that is to be derived again stays as it was counted until then.
    const after = row.reading_revision === null ? { ...joined, reading: before.reading } : joined
    return [{ of: after, before, after }]
  })
  await client.query(
    `update request_verdicts v set ${verdictUpdates('n')}, reading_revision = v.reading_revision + 1
     from ${verdictRows} where v.project_id = n.project_id and v.request_id = n.request_id and v.request_created_at = n.request_created_at
       and v.request_created_at between $11 and $12`,
    [...verdictValues(changes.map(({ after }) => after)), ...bounds],
  )
  return changes
}
