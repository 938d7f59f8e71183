import type { ClientBase } from 'pg'
import { asOther, countedName, type RollupRow } from '../steps/tally-rollups.ts'
import { recountDays } from './rollup-days.ts'
import type { RollupStore } from './rollup-store.ts'
import { changesLane, userRollups } from './rollup-tables.ts'
import { timeBounds } from './time-bounds.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const sums = [...userRollups.sums, ...userRollups.sparseSums]

/** A call that has been erased. */
export interface ErasedCall {
  user_id: string | null
  created_at: Date
}

type CountedRow = Record<string, string | null> & {
  series: string
  source: string
  user_id: string
  hour: Date
  last_at: Date
}

/**
 * Moves the counts of users who have no call left in an hour to the hour's other users: sums stay, names go.
 * Call it in the transaction that erased the calls, while nobody folds.
 */
export async function eraseUserCounts(
  client: ClientBase,
  rollups: RollupStore,
  projectUuid: string,
  erased: readonly ErasedCall[],
): Promise<void> {
  const places = placesOf(erased)
  if (places.length === 0) return
  const [first, last] = timeBounds(places, ({ hour }) => hour.getTime())
  const { rows } = await client.query<CountedRow>(takeSql, [
    projectUuid,
    places.map(({ userId }) => userId),
    places.map(({ userId }) => countedName(userId)),
    places.map(({ hour }) => hour),
    first,
    new Date(last.getTime() + hourMs),
  ])
  await rollups.add(
    client,
    userRollups,
    changesLane,
    rows.map((row) => asOther(countedOf(projectUuid, row), userRollups.keptInOther)),
  )
  const days = new Set(rows.map(({ hour }) => hour.getTime() - (hour.getTime() % dayMs)))
  await recountDays(
    client,
    userRollups,
    [...days].map((day) => ({ project_id: projectUuid, day: new Date(day) })),
  )
}

function placesOf(erased: readonly ErasedCall[]): { userId: string; hour: Date }[] {
  const places = new Map<string, { userId: string; hour: Date }>()
  for (const { user_id: userId, created_at: at } of erased) {
    if (userId === null) continue
    const hour = new Date(at.getTime() - (at.getTime() % hourMs))
    places.set(`${hour.getTime()}/${userId}`, { userId, hour })
  }
  return [...places.values()]
}

function countedOf(projectUuid: string, row: CountedRow): RollupRow {
  const { series, source, user_id, hour, last_at } = row
  const counted = sums.flatMap((name) => {
    const value = row[name] ?? null
    return value === null ? [] : [[name, BigInt(value)]]
  })
  return {
    projectUuid,
    startMs: hour.getTime(),
    series,
    isOther: false,
    dimensions: { source, user_id },
    sums: Object.fromEntries(counted) as Record<string, bigint>,
    lastAtMs: last_at.getTime(),
  }
}

// With the bounds $5 and $6 Postgres skips the other days' partitions.
const takeSql = `
  with emptied as (
    select p.name, p.hour from unnest($2::text[], $3::text[], $4::timestamptz[]) as p (user_id, name, hour)
    left join lateral (
      select true as found from llm_requests r where r.project_id = $1 and r.user_id = p.user_id
        and r.created_at >= p.hour and r.created_at < p.hour + interval '1 hour'
        and r.created_at >= $5 and r.created_at < $6 limit 1
    ) left_over on true where left_over.found is null
  )
  delete from user_rollups t using emptied e
  where t.project_id = $1 and t.hour = e.hour and t.user_id = e.name returning t.*`
