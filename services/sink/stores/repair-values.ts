import type { ClientBase } from 'pg'

/** The newest calls of a finding among which a value is looked for. */
const maxExamined = 10_000

/**
 * Gives the values whose last call is one of these the newest live call of their finding that still has them;
 * deletes those that none of its newest 10,000 has. After it a value's last call has it, unless a sink has
 * just counted a later one.
 */
export async function repairValues(
  client: ClientBase,
  { projectUuid, liveRunUuid }: { projectUuid: string; liveRunUuid: string },
  requestUuids: readonly string[],
): Promise<void> {
  // In a statement before the search: what a sink commits while this waits is seen only by the next one. The
  // search plans for every day's partition, and so locks them all.
  const held = await client.query(
    `select from finding_values where project_id = $1 and last_request_id = any ($2::uuid[])
     order by finding_id, hash, lane for update`,
    [projectUuid, requestUuids],
  )
  if (held.rowCount === 0) return
  await client.query(
    `with held as materialized (
       select v.finding_id, v.hash, v.lane from finding_values v where v.project_id = $1 and v.last_request_id = any ($3::uuid[])
     ), found as materialized (
       select h.*, n.request_id from held h left join lateral (
         select s.request_id from (
           select s.request_id, s.id, s.request_created_at from safety_scores s
           where s.project_id = $1 and s.finding_id = h.finding_id and s.run_id = $2
           order by s.request_created_at desc, s.id desc limit $4) s
         join safety_score_details d on d.project_id = $1 and d.score_id = s.id and d.request_created_at = s.request_created_at
         where d.found_values @> jsonb_build_array(jsonb_build_object('hash', encode(h.hash, 'hex')))
         order by s.request_created_at desc, s.id desc limit 1) n on true
     ), moved as (
       update finding_values v set last_request_id = f.request_id, first_request_id = least(v.first_request_id, f.request_id) from found f
       where v.project_id = $1 and v.finding_id = f.finding_id and v.hash = f.hash and v.lane = f.lane and f.request_id is not null
     )
     delete from finding_values v using found f
     where v.project_id = $1 and v.finding_id = f.finding_id and v.hash = f.hash and v.lane = f.lane and f.request_id is null`,
    [projectUuid, liveRunUuid, requestUuids, maxExamined],
  )
}
