import type { ClientBase } from 'pg'
import { clientsAheadMs } from '#capture/record/read-bodies.ts'
import type { PlacedCall } from '../steps/place-call.ts'

/**
 * The identities of calls with a requested erasure: a redelivery or a redrive must not bring them back. Call
 * it in a transaction that has written (its position): an erasure that it does not see waits for its end. One
 * look-up by project for nearly every batch.
 */
export async function findErased(client: ClientBase, calls: readonly PlacedCall[]): Promise<Set<string>> {
  // A batch without a partition leaves nothing to look up.
  if (calls.length === 0) return new Set()
  const startMsOf = ({ call, createdAtMs }: PlacedCall) => Math.min(createdAtMs, call.received_at)
  // Only erasures requested since the oldest call can match it, or earlier ones if its client's clock was
  // ahead and it is sent again. Without recent requests one index entry is read, however many erasures the
  // project has.
  const { rows: touched } = await client.query<{ project_id: string }>(
    `select p.project_id from unnest($1::uuid[]) as p (project_id) cross join lateral (
       select from erasures e where e.project_id = p.project_id and e.requested_at >= $2 limit 1) found`,
    [
      [...new Set(calls.map(({ projectUuid }) => projectUuid))],
      new Date(calls.reduce((least, call) => Math.min(least, startMsOf(call)), Infinity) - clientsAheadMs),
    ],
  )
  if (touched.length === 0) return new Set()
  const touchedProjects = new Set(touched.map(({ project_id }) => project_id))
  const suspects = calls.filter(({ projectUuid }) => touchedProjects.has(projectUuid))
  const { rows } = await client.query<{ place: string }>(
    `select place from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[]) with ordinality
       as c (project_id, id, session_id, user_id, at, place)
     where exists (select from erased_requests x where x.project_id = c.project_id and x.request_id = c.id)
       or exists (select from erasures e where e.project_id = c.project_id and e.requested_at >= c.at and (${[
         ['request', 'c.id::text'],
         ['session', 'c.session_id'],
         ['user', 'c.user_id'],
         ['project', `''`],
       ]
         .map(
           ([scope, subject]) =>
             `(e.scope = '${scope}' and md5(e.subject) = md5(${subject}) and e.subject = ${subject})`,
         )
         .join(' or ')}))`,
    [
      suspects.map(({ projectUuid }) => projectUuid),
      suspects.map(({ requestUuid }) => requestUuid),
      suspects.map(({ call }) => call.session_id),
      suspects.map(({ call }) => call.user_id),
      suspects.map((call) => new Date(startMsOf(call))),
    ],
  )
  return new Set(rows.flatMap(({ place }) => suspects[Number(place) - 1]?.identity ?? []))
}
