import type { Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import { idFromUuid, idTimeMs, idToUuid } from '#schemas/ids.ts'
import { longestKeptMs } from '#schemas/topics.ts'
import type { Counted, Paging } from '../http/paging.ts'
import { Conditions } from './conditions.ts'
import { listRows } from './list-rows.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

export const erasureScopes = ['request', 'session', 'user', 'project'] as const
export const erasureStatuses = ['erasing', 'erased'] as const

export interface Erasure {
  id: string
  project_id: string
  scope: (typeof erasureScopes)[number]
  /** The request, session or user; null for a project. */
  subject: string | null
  requested_at: string
  requested_by: 'operator' | 'key'
  status: (typeof erasureStatuses)[number]
  erased_calls: number
  erased_at: string | null
  kept_in_kafka_until: string
}

interface ErasureRow extends Omit<Erasure, 'subject' | 'erased_calls'> {
  subject: string
  erased_calls: string
  requested_at: Date & string
  erased_at: (Date & string) | null
  kept_in_kafka_until: Date & string
}

const columns = `e.id, e.project_id, e.scope, e.subject, e.requested_at, e.requested_by, e.status, e.erased_calls, e.erased_at,
  e.kept_in_kafka_until`

/**
 * Open erasures of one project; beyond, only the operator may order one. The sink does some hundreds a
 * minute.
 */
const maxOpen = 10_000

/**
 * Orders an erasure of what exists now by the database's clock; the sink does it. Undefined: unknown project,
 * or the limit.
 */
export async function createErasure(
  database: ProjectDatabase<OneProject>,
  { id, scope, subject, requested_by }: Pick<Erasure, 'id' | 'scope' | 'subject' | 'requested_by'>,
  nowMs: number,
): Promise<Erasure | undefined> {
  const stored = scope === 'request' && subject !== null ? idToUuid(subject) : (subject ?? '')
  const rows = await database.change<ErasureRow>(
    `with e as (
       insert into erasures (id, project_id, scope, subject, requested_by, requested_at, kept_in_kafka_until)
       select $2, p.project_id, $3, $4, $5, now(), now() + $6 * interval '1 millisecond' from subscriptions p where :scope(p) and ($5 = 'operator' or
         (select count(*) from (select from erasures o where :scope(o) and o.status = 'erasing' limit ${maxOpen}) counted) < ${maxOpen}) returning *)
     select ${columns} from e`,
    [idToUuid(id), scope, stored, requested_by, longestKeptMs],
    // Without the subject, which would outlast the erasure.
    { action: 'erasure.requested', subject: id, detail: { scope } },
    nowMs,
    true,
  )
  return rows.map(erasureOf)[0]
}

/** Newest first. */
export async function listErasures(
  database: ProjectDatabase,
  status: Erasure['status'] | undefined,
  paging: Paging,
): Promise<{ items: Erasure[]; counted: Counted }> {
  const conditions = new Conditions()
  conditions.equal('e.status', status)
  const { rows, counted } = await listRows<ErasureRow>(database, paging, {
    columns,
    from: 'erasures e',
    alias: 'e',
    timeColumn: 'e.requested_at',
    idColumn: 'e.id',
    // Ordered by the database's clock, while the id has the API's.
    timeOf: (id) => `(select c.requested_at from erasures c where c.id = ${id})`,
    conditions,
  })
  return { items: rows.map(erasureOf), counted }
}

export async function findErasure(database: ProjectDatabase, id: string): Promise<Erasure | undefined> {
  const rows = await database.query<ErasureRow>(
    `select ${columns} from erasures e where :scope(e) and e.id = $2`,
    [idToUuid(id)],
  )
  return rows.map(erasureOf)[0]
}

function erasureOf(row: ErasureRow): Erasure {
  return {
    ...row,
    id: idFromUuid('erasure', row.id),
    project_id: idFromUuid('project', row.project_id),
    subject: subjectOf(row),
    requested_at: row.requested_at.toISOString(),
    erased_calls: Number(row.erased_calls),
    erased_at: row.erased_at?.toISOString() ?? null,
    kept_in_kafka_until: row.kept_in_kafka_until.toISOString(),
  }
}

function subjectOf({ scope, subject }: ErasureRow): string | null {
  if (scope === 'request') return idFromUuid('request', subject)
  return scope === 'project' ? null : subject
}

interface CallParts {
  projectId: string | null
  requestId: string | null
  sessionId: string | null
  userId: string | null
}

/** Whether an erasure covers the call of a record that Kafka still holds. Uses the operator's connections. */
export async function isErased(pool: Pool, { projectId, requestId, ...call }: CallParts): Promise<boolean> {
  if (projectId === null) return false
  const { rows } = await query<{ erased: boolean }>(
    pool,
    `select exists (select from erased_requests x where x.project_id = $1 and x.request = $2) or exists (
       select from erasures e where e.project_id = $1 and e.requested_at >= $3 and (e.scope, md5(e.subject)) in (
         ('request', md5($4::text)), ('session', md5($5::text)), ('user', md5($6::text)), ('project', md5('')))
     ) as erased`,
    [
      idToUuid(projectId),
      requestId,
      // An erasure covers what existed when it was ordered.
      new Date(requestId === null ? 0 : idTimeMs(requestId)),
      requestId === null ? null : idToUuid(requestId),
      call.sessionId,
      call.userId,
    ],
  )
  return rows[0]?.erased === true
}
