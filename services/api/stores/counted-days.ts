import type { Pool } from 'pg'
import { ageAt, type Clock } from '#runtime/clock.ts'
import { query } from '#runtime/postgres.ts'

/** Unix milliseconds up to which every day is in the daily roll-up; -Infinity: no day is. */
export type CountedDays = (rollup: string) => Promise<number>

/** It advances once a day and never back, so a minute-old value is still valid. */
const keptMs = 60_000

/**
 * Read separately: Postgres chooses a good plan only with bounds known at planning time (3 ms against 40).
 */
export function createCountedDays(pool: Pool, clock: Clock): CountedDays {
  let known: { readAtMs: number; days: Promise<ReadonlyMap<string, number>> } | undefined

  async function read(): Promise<ReadonlyMap<string, number>> {
    const { rows } = await query<{ name: string; counted_until: Date | null }>(
      pool,
      'select name, counted_until from rollup_days',
    )
    return new Map(rows.map(({ name, counted_until: until }) => [name, until?.getTime() ?? -Infinity]))
  }

  return async (rollup) => {
    if (known === undefined || ageAt(clock.now(), known.readAtMs) > keptMs) {
      known = { readAtMs: clock.now(), days: read() }
    }
    const asked = known
    try {
      return (await asked.days).get(rollup) ?? -Infinity
    } catch (error) {
      if (known === asked) known = undefined
      throw error
    }
  }
}
