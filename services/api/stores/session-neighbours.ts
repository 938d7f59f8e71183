import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'
import type { RequestItem } from './request-store.ts'

/** The range on each side: a session may be long over, and every day is a partition. */
const reachMs = 7 * 86_400_000

export interface SessionNeighbours {
  previous_in_session: string | null
  next_in_session: string | null
}

/** The calls of the same session just before and after this one, within a week. */
export async function findSessionNeighbours(
  database: ProjectDatabase<OneProject>,
  { id, session_id, created_at }: RequestItem,
): Promise<SessionNeighbours> {
  if (session_id === null) return { previous_in_session: null, next_in_session: null }
  const rows = await database.query<{ previous: string | null; next: string | null }>(
    `select ${neighbour('<')} as previous, ${neighbour('>')} as next`,
    [
      session_id,
      created_at,
      idToUuid(id),
      ...[-reachMs, reachMs].map((ms) => new Date(Date.parse(created_at) + ms)),
    ],
  )
  const idOf = (uuid: string | null | undefined) => (uuid == null ? null : idFromUuid('request', uuid))
  return { previous_in_session: idOf(rows[0]?.previous), next_in_session: idOf(rows[0]?.next) }
}

/**
 * $1 is the project (project-database.ts), then session, time, id and range: as values, by which Postgres
 * skips partitions.
 */
function neighbour(sign: '<' | '>'): string {
  const [bound, order] = sign === '<' ? ['> $5', 'desc'] : ['< $6', 'asc']
  return `(select r.id from llm_requests r where :scope(r) and r.session_id = $2
    and r.created_at ${sign}= $3::timestamptz and r.created_at ${bound}
    and (r.created_at, r.id) ${sign} ($3::timestamptz, $4::uuid) order by r.created_at ${order}, r.id ${order} limit 1)`
}
