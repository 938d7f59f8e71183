import type { ClientBase } from 'pg'
import { maxFindingValues } from '#schemas/finding.ts'
import { firstAndLast, valuesOf, type FindingGroup } from '../steps/group-findings.ts'

/** Adds the groups' scores to their findings' counters of this lane; `by` -1: takes them out. */
export async function addToCounters(
  client: ClientBase,
  groups: readonly FindingGroup[],
  lane: number,
  by: 1 | -1 = 1,
): Promise<void> {
  if (groups.length === 0) return
  const ends = groups.map(({ scores }) => firstAndLast(scores))
  await client.query(
    `insert into finding_counters as c (project_id, finding_id, lane, count, value_count, first_request_id, last_request_id, first_seen_at, last_seen_at)
     select project_id, id, $8, n, 0, first_id, last_id, first_at, last_at
     from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[], $5::uuid[], $6::timestamptz[], $7::timestamptz[])
       as w (project_id, id, n, first_id, last_id, first_at, last_at) order by 1, 2
     on conflict (project_id, finding_id, lane) do update set count = c.count + excluded.count,
       first_request_id = least(c.first_request_id, excluded.first_request_id), last_request_id = greatest(c.last_request_id, excluded.last_request_id),
       first_seen_at = least(c.first_seen_at, excluded.first_seen_at), last_seen_at = greatest(c.last_seen_at, excluded.last_seen_at)`,
    [
      groups.map(({ projectUuid }) => projectUuid),
      groups.map(({ findingUuid }) => findingUuid),
      groups.map(({ scores }) => by * scores.length),
      ends.map(({ first }) => first.requestUuid),
      ends.map(({ last }) => last.requestUuid),
      ends.map(({ first }) => new Date(first.requestCreatedAtMs)),
      ends.map(({ last }) => new Date(last.requestCreatedAtMs)),
      lane,
    ],
  )
}

/**
 * Adds what the groups' scores found. Of each finding a lane takes the first 1,000 values that it ever sees:
 * the counter, which this transaction has locked, says how many that were.
 */
export async function addValues(
  client: ClientBase,
  groups: readonly FindingGroup[],
  lane: number,
): Promise<void> {
  const values = valuesOf(groups)
  if (values.length === 0) return
  await client.query(
    `with given as (
       select * from unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::uuid[], $5::uuid[]) as g (project_id, finding_id, hash, first_id, last_id)
     ), placed as (
       select g.*, k.lane is not null as is_known, c.value_count
         + row_number() over (partition by g.project_id, g.finding_id, k.lane is not null order by g.first_id, g.hash) as place
       from given g join finding_counters c on c.project_id = g.project_id and c.finding_id = g.finding_id and c.lane = $6
       left join finding_values k on k.project_id = g.project_id and k.finding_id = g.finding_id and k.hash = g.hash and k.lane = $6
     ), written as (
       insert into finding_values as v (project_id, finding_id, hash, lane, first_request_id, last_request_id)
       select p.project_id, p.finding_id, p.hash, $6, p.first_id, p.last_id from placed p where p.is_known or p.place <= $7
       order by 1, 2, 3
       on conflict (project_id, finding_id, hash, lane) do update set first_request_id = least(v.first_request_id, excluded.first_request_id),
         last_request_id = greatest(v.last_request_id, excluded.last_request_id)
       returning project_id, finding_id, xmax = 0 as is_new
     ), news as (select project_id, finding_id, count(*) as n from written where is_new group by 1, 2)
     update finding_counters c set value_count = c.value_count + n from news
     where c.project_id = news.project_id and c.finding_id = news.finding_id and c.lane = $6`,
    [
      values.map(({ projectUuid }) => projectUuid),
      values.map(({ findingUuid }) => findingUuid),
      values.map(({ hash }) => hash),
      values.map(({ first }) => first),
      values.map(({ last }) => last),
      lane,
      maxFindingValues,
    ],
  )
}

export interface FindingSums {
  count: number
  first_seen: Date
  last_seen: Date
}

/** Over all lanes. */
export async function readSums(
  client: ClientBase,
  groups: readonly FindingGroup[],
): Promise<Map<string, FindingSums>> {
  const { rows } = await client.query<{
    project_id: string
    finding_id: string
    count: string
    first_seen: Date
    last_seen: Date
  }>(
    `select c.project_id, c.finding_id, sum(c.count) as count, min(c.first_seen_at) as first_seen, max(c.last_seen_at) as last_seen
     from unnest($1::uuid[], $2::uuid[]) as w (project_id, id)
     join finding_counters c on c.project_id = w.project_id and c.finding_id = w.id group by 1, 2`,
    [groups.map(({ projectUuid }) => projectUuid), groups.map(({ findingUuid }) => findingUuid)],
  )
  return new Map(
    rows.map(({ project_id, finding_id, count, first_seen, last_seen }) => [
      `${project_id}/${finding_id}`,
      { count: Number(count), first_seen, last_seen },
    ]),
  )
}
