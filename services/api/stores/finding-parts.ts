import { idFromUuid, idToUuid, liveRunId } from '#schemas/ids.ts'
import type { Severity } from '#schemas/verdicts.ts'
import type { ChangeBy } from './change-findings.ts'
import type { StoredStanding } from './finding-standing.ts'
import { callOf, ownerOf, type Finding } from './finding-store.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

/** Of each kind of part that one answer has. */
export const maxShown = 100
/** The newest calls of which sessions and users are counted: 50 to 100 ms. */
const maxExamined = 10_000
export const maxComments = 1_000

export interface FindingCall {
  request_id: string
  score_id: string
  created_at: string
  severity: Severity
  score_value: number | null
  model: string
  session_id: string | null
  user_id: string | null
}

const liveRunOf = (finding: Finding) => idToUuid(liveRunId(finding.project_id))

/** The newest calls of a finding, as they are live now. */
export async function readFindingCalls(database: ProjectDatabase, finding: Finding): Promise<FindingCall[]> {
  const rows = await database.query<Omit<FindingCall, 'created_at'> & { created_at: Date }>(
    `select s.request_id, s.id as score_id, s.request_created_at as created_at, s.severity, s.score_value, r.model, r.session_id, r.user_id
     from (select s.* from safety_scores s where :scope(s) and s.project_id = $2 and s.finding_id = $3 and s.run_id = $4
       order by s.request_created_at desc, s.id desc limit $5) s
     join llm_requests r on r.project_id = s.project_id and r.id = s.request_id and r.created_at = s.request_created_at
     order by s.request_created_at desc, s.id desc`,
    [idToUuid(finding.project_id), idToUuid(finding.id), liveRunOf(finding), maxShown],
  )
  return rows.map((row) => ({
    ...row,
    request_id: idFromUuid('request', row.request_id),
    score_id: idFromUuid('score', row.score_id),
    created_at: row.created_at.toISOString(),
  }))
}

/** Sessions and users of the newest calls that are still stored. */
export async function countPeopleOf(
  database: ProjectDatabase,
  finding: Finding,
): Promise<{ sessions: number; users: number; isExact: boolean }> {
  const [row] = await database.query<{ sessions: number; users: number; examined: number }>(
    `select count(distinct r.session_id)::integer as sessions, count(distinct r.user_id)::integer as users, count(*)::integer as examined
     from (select s.* from safety_scores s where :scope(s) and s.project_id = $2 and s.finding_id = $3 and s.run_id = $4
       order by s.request_created_at desc, s.id desc limit $5) s
     join llm_requests r on r.project_id = s.project_id and r.id = s.request_id and r.created_at = s.request_created_at`,
    [idToUuid(finding.project_id), idToUuid(finding.id), liveRunOf(finding), maxExamined],
  )
  const { sessions = 0, users = 0, examined = 0 } = row ?? {}
  return { sessions, users, isExact: examined >= finding.count }
}

export interface FindingValueSeen {
  first_request_id: string | null
  last_request_id: string | null
}

/** Where each value was first and last found, the newest first. */
export async function readFindingValues(
  database: ProjectDatabase,
  finding: Finding,
): Promise<FindingValueSeen[]> {
  const rows = await database.query<{ first_request_id: string; last_request_id: string }>(
    `select (array_agg(v.first_request_id order by v.first_request_id))[1] as first_request_id,
       (array_agg(v.last_request_id order by v.last_request_id desc))[1] as last_request_id
     from finding_values v where :scope(v) and v.project_id = $2 and v.finding_id = $3 group by v.hash order by 2 desc limit $4`,
    [idToUuid(finding.project_id), idToUuid(finding.id), maxShown],
  )
  return rows.map((row) => ({
    first_request_id: callOf(row.first_request_id),
    last_request_id: callOf(row.last_request_id),
  }))
}

export interface FindingComment {
  id: string
  author: string
  author_kind: ChangeBy['kind']
  /** Null for viewers: it may quote content. */
  text: string | null
  created_at: string
}

interface CommentRow extends Omit<FindingComment, 'created_at'> {
  created_at: Date
}

/** Newest first. */
export async function readComments(database: ProjectDatabase, finding: Finding): Promise<FindingComment[]> {
  const rows = await database.query<CommentRow>(
    `select c.id, c.author, c.author_kind, c.text, c.created_at from finding_comments c
     where :scope(c) and c.project_id = $2 and c.finding_id = $3 order by c.created_at desc, c.id desc limit $4`,
    [idToUuid(finding.project_id), idToUuid(finding.id), maxShown],
  )
  return rows.map(commentOf)
}

/** Undefined: unknown finding, or its limit of comments. */
export async function addComment(
  database: ProjectDatabase<OneProject>,
  findingId: string,
  { id, by, text }: { id: string; by: ChangeBy; text: string },
  nowMs: number,
): Promise<FindingComment | undefined> {
  const rows = await database.change<CommentRow>(
    `insert into finding_comments as c (project_id, id, finding_id, author, author_kind, text, created_at)
     select f.project_id, $2, f.id, $4, $5, $6, $7 from findings f where :scope(f) and f.id = $3
       and (select count(*) from finding_comments o where o.project_id = f.project_id and o.finding_id = f.id) < $8
     returning c.id, c.author, c.author_kind, c.text, c.created_at`,
    [idToUuid(id), idToUuid(findingId), by.name, by.kind, text, new Date(nowMs), maxComments],
    { action: 'finding.commented', subject: findingId, detail: { comment_id: id } },
    nowMs,
    true,
  )
  return rows.map(commentOf)[0]
}

function commentOf(row: CommentRow): FindingComment {
  return {
    ...row,
    id: idFromUuid('findingComment', row.id),
    created_at: row.created_at.toISOString(),
  }
}

export interface FindingChange {
  change_id: string
  at: string
  actor_kind: ChangeBy['kind'] | null
  actor_name: string | null
  before: ReturnType<typeof standingShown>
  after: ReturnType<typeof standingShown>
  lost_owner: string | null
}

/** Newest first. */
export async function readHistory(database: ProjectDatabase, finding: Finding): Promise<FindingChange[]> {
  const rows = await database.query<{
    change_id: string
    at: Date
    actor_kind: ChangeBy['kind'] | null
    actor_name: string | null
    before: StoredStanding
    after: StoredStanding
  }>(
    `select h.change_id, h.at, h.actor_kind, h.actor_name, h.before, h.after from finding_changes h
     where :scope(h) and h.project_id = $2 and h.finding_id = $3 order by h.revision desc limit $4`,
    [idToUuid(finding.project_id), idToUuid(finding.id), maxShown],
  )
  return rows.map((row) => ({
    ...row,
    change_id: idFromUuid('findingChange', row.change_id),
    at: row.at.toISOString(),
    before: standingShown(row.before),
    after: standingShown(row.after),
    lost_owner: row.after.lost_owner ?? null,
  }))
}

function standingShown({ state, muted_until, owner_id, owner_login }: StoredStanding) {
  // Postgres writes the times of a call's change in its own form.
  const until = muted_until === null ? null : new Date(muted_until).toISOString()
  return { state, muted_until: until, owner: ownerOf({ owner_id, owner_login }) }
}
