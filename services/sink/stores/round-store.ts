import type { Pool } from 'pg'
import { query } from '#runtime/postgres.ts'

/** A round begun by this process, or when it may begin one and when any process finished the last. */
export type Begun = { number: number } | { dueInMs: number; endedAtMs: number | undefined }

/** The round that this process has last begun. */
export interface OwnRound {
  number: number
  hasFailed: boolean
}

export interface RoundStore {
  /**
   * Begins a round when it is due. The process of the last round comes first, at once if it failed; others
   * may begin half an interval later, also while it keeps failing.
   */
  begin(own: OwnRound | undefined): Promise<Begun>
  /** Due again after the interval, or at once. Unchanged if another process has begun a round since. */
  end(number: number, isMore: boolean): Promise<void>
}

// Due further off than an interval: the interval is shorter now, or the clock has gone back. A retried round
// keeps its due time: a sink that always fails must not keep it from the others.
const begin = `
  insert into upkeep_rounds as r (name, rounds, began_at, due_at)
  values ($1, 1, clock_timestamp(), clock_timestamp() + $2::float8 * interval '1 millisecond')
  on conflict (name) do update set rounds = r.rounds + 1, began_at = excluded.began_at,
    due_at = case when r.rounds = $3::bigint and $4::boolean then least(r.due_at, excluded.due_at) else excluded.due_at end
  where r.due_at + case when r.rounds = $3::bigint then 0 else $2::float8 / 2 end * interval '1 millisecond' <= clock_timestamp()
    or r.rounds = $3::bigint and $4::boolean
    or r.due_at > clock_timestamp() + $2::float8 * interval '1 millisecond'
  returning rounds::float8 as number`

const look = `
  select extract(epoch from due_at - clock_timestamp())::float8 * 1000 + case when rounds = $3::bigint then 0 else $2::float8 / 2 end as "dueInMs",
    extract(epoch from ended_at)::float8 * 1000 as "endedAtMs"
  from upkeep_rounds where name = $1`

const end = `
  update upkeep_rounds set ended_at = clock_timestamp(),
    due_at = case when rounds = $3::bigint then clock_timestamp() + $2::float8 * interval '1 millisecond' else due_at end
  where name = $1`

/**
 * The shared rounds of one task, by Postgres's clock. After a crash a round is due an interval after its
 * begin.
 */
export function createRoundStore(pool: Pool, name: string, intervalMs: number): RoundStore {
  return {
    async begin(own) {
      const place = [name, intervalMs, own?.number ?? 0]
      const [begun] = (await query<{ number: number }>(pool, begin, [...place, own?.hasFailed ?? false])).rows
      if (begun !== undefined) return begun
      const { rows } = await query<{ dueInMs: number; endedAtMs: number | null }>(pool, look, place)
      const [{ dueInMs, endedAtMs } = { dueInMs: 0, endedAtMs: null }] = rows
      return { dueInMs: Math.max(0, dueInMs), endedAtMs: endedAtMs ?? undefined }
    },
    async end(number, isMore) {
      await query(pool, end, [name, isMore ? 0 : intervalMs, number])
    },
  }
}
