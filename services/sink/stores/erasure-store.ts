import type { ClientBase } from 'pg'
import { clientsAheadMs } from '#capture/record/read-bodies.ts'
import type { PlacedCall } from '../steps/place-call.ts'

/**
 * The identities of calls that somebody has asked to erase, so that a redelivery or a redrive does not bring them back. Called in a transaction that
 * has written already (its position): an erasure that it does not see waits for its end. One look-up by project for nearly every batch.
 */
export async function findErased(client: ClientBase, calls: readonly PlacedCall[]): Promise<Set<string>> {
  // Of a batch that no partition takes nothing is left.
  if (calls.length === 0) return new Set()
  const startMsOf = ({ call, createdAtMs }: PlacedCall) => Math.min(createdAtMs, call.received_at)
  // Only what was asked for since the oldest call came can be of one of them, or before its time where its maker's clock was ahead and it is sent again: where
  // nobody asks to erase what is just coming, one entry of the index is looked at, however many erasures the project has had.
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
