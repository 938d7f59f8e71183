import { idFromUuid, idTimeMs, idToUuid } from '#schemas/ids.ts'
import { maxActiveSuppressions, type SuppressionRule } from '#schemas/suppression.ts'
import type { Severity } from '#schemas/verdicts.ts'
import type { Principal } from '#http/access/principal.ts'
import type { Counted, Paging } from '../http/paging.ts'
import { Conditions } from './conditions.ts'
import { listRows } from './list-rows.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'
import type { StoredFoundValue } from './score-store.ts'

export interface Suppression {
  id: string
  project_id: string
  scorer_name: string
  kind: string | null
  agent_name: string | null
  tool_name: string | null
  /** Covers one value alone; the value is not kept, and its hash is not shown. */
  has_value: boolean
  max_severity: Severity
  reason: string | null
  author: string
  author_kind: Principal['kind']
  created_at: string
  expires_at: string | null
  revoked_at: string | null
  is_active: boolean
  /** Live scores that it marked. */
  covered: number
  last_covered_at: string | null
}

interface SuppressionRow extends Omit<
  Suppression,
  'created_at' | 'expires_at' | 'revoked_at' | 'is_active' | 'covered' | 'last_covered_at'
> {
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
  covered: string
  last_covered_at: Date | null
}

/** A new one. */
export interface SuppressionInput extends SuppressionRule {
  reason: string
  author: string
  author_kind: Principal['kind']
  /** The request whose score it was made from. */
  request_id: string | null
}

/** Active and ended ones of a project: ended ones go after 400 days. */
export const maxSuppressions = 5_000

const ofActive = (at: string) => `s.revoked_at is null and (s.expires_at is null or s.expires_at > ${at})`
const columns = `s.id, s.project_id, s.scorer_name, s.kind, s.agent_name, s.tool_name, s.has_value, s.max_severity, s.reason, s.author,
  s.author_kind, s.created_at, s.expires_at, s.revoked_at`
/** The suppressions in `owner`, a table or a statement's changed rows, with what they covered. */
const selectFrom = (
  owner: string,
) => `select ${columns}, counted.covered, counted.last_covered_at from ${owner} s
  cross join lateral (select coalesce(sum(c.covered), 0)::text as covered, max(c.last_covered_at) as last_covered_at
    from suppression_counts c where c.project_id = s.project_id and c.suppression_id = s.id) counted`

/** Undefined: unknown project, or its limit. */
export async function createSuppression(
  database: ProjectDatabase<OneProject>,
  input: SuppressionInput,
  nowMs: number,
): Promise<Suppression | undefined> {
  const { reason, value_hash, request_id, id, ...described } = input
  const rows = await database.change<SuppressionRow>(
    `with s as (
       insert into suppressions (project_id, id, scorer_name, kind, agent_name, tool_name, has_value, value_hash, max_severity, reason,
         author, author_kind, created_at, expires_at, request_id)
       select p.project_id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15 from subscriptions p
       where :scope(p) and (select count(*) from suppressions s where :scope(s) and ${ofActive('$13')}) < $16
         and (select count(*) from suppressions s where :scope(s)) < $17
       returning *)
     ${selectFrom('s')}`,
    [
      idToUuid(id),
      input.scorer_name,
      input.kind,
      input.agent_name,
      input.tool_name,
      input.has_value,
      value_hash,
      input.max_severity,
      reason,
      input.author,
      input.author_kind,
      new Date(nowMs),
      input.expires_at,
      request_id === null ? null : idToUuid(request_id),
      maxActiveSuppressions,
      maxSuppressions,
    ],
    { action: 'suppression.created', subject: id, detail: described },
    nowMs,
    true,
  )
  return rows.map((row) => suppressionOf(row, nowMs))[0]
}

/** Newest first. */
export async function listSuppressions(
  database: ProjectDatabase<OneProject>,
  { active, scorer_name }: { active?: boolean | undefined; scorer_name?: string | undefined },
  paging: Paging,
  nowMs: number,
): Promise<{ items: Suppression[]; counted: Counted }> {
  const conditions = new Conditions()
  conditions.equal('s.scorer_name', scorer_name)
  if (active !== undefined)
    conditions.add(`(${ofActive(conditions.bind(new Date(nowMs)))}) is ${active ? 'true' : 'not true'}`)
  const { rows, counted } = await listRows<SuppressionRow>(database, paging, {
    columns: 's.*',
    from: `(${selectFrom('suppressions')}) s`,
    alias: 's',
    timeColumn: 's.created_at',
    idColumn: 's.id',
    conditions,
  })
  return { items: rows.map((row) => suppressionOf(row, nowMs)), counted }
}

export async function findSuppression(
  database: ProjectDatabase<OneProject>,
  id: string,
  nowMs: number,
): Promise<Suppression | undefined> {
  const rows = await database.query<SuppressionRow>(
    `${selectFrom('suppressions')} where :scope(s) and s.id = $2`,
    [idToUuid(id)],
  )
  return rows.map((row) => suppressionOf(row, nowMs))[0]
}

/** Its hash is forgotten. One that was revoked stays as it is. Undefined: unknown. */
export async function revokeSuppression(
  database: ProjectDatabase<OneProject>,
  id: string,
  nowMs: number,
): Promise<Suppression | undefined> {
  await database.change(
    `update suppressions s set revoked_at = $3, value_hash = null where :scope(s) and s.id = $2 and s.revoked_at is null returning s.id`,
    [idToUuid(id), new Date(nowMs)],
    { action: 'suppression.revoked', subject: id },
    nowMs,
  )
  return findSuppression(database, id, nowMs)
}

/** A score from which a suppression is made. Undefined: there is none. */
export async function findFoundValues(
  database: ProjectDatabase<OneProject>,
  scoreId: string,
): Promise<{ scorer_name: string; request_id: string; values: StoredFoundValue[] } | undefined> {
  const [row] = await database.query<{
    scorer_name: string
    request_id: string
    found_values: StoredFoundValue[] | null
  }>(
    `select s.scorer_name, s.request_id, d.found_values from safety_scores s left join safety_score_details d
       on d.project_id = s.project_id and d.score_id = s.id and d.request_created_at = s.request_created_at and d.request_created_at = $3
     where :scope(s) and s.id = $2 and s.request_created_at = $3`,
    [idToUuid(scoreId), new Date(idTimeMs(scoreId))],
  )
  if (row === undefined) return undefined
  const { scorer_name, request_id, found_values } = row
  return { scorer_name, request_id: idFromUuid('request', request_id), values: found_values ?? [] }
}

function suppressionOf(row: SuppressionRow, nowMs: number): Suppression {
  const { revoked_at, expires_at } = row
  return {
    ...row,
    id: idFromUuid('suppression', row.id),
    project_id: idFromUuid('project', row.project_id),
    created_at: row.created_at.toISOString(),
    expires_at: expires_at?.toISOString() ?? null,
    revoked_at: revoked_at?.toISOString() ?? null,
    is_active: revoked_at === null && (expires_at === null || expires_at.getTime() > nowMs),
    covered: Number(row.covered),
    last_covered_at: row.last_covered_at?.toISOString() ?? null,
  }
}
