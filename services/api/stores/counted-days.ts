import type { Pool } from 'pg'
import { ageAt, type Clock } from '#runtime/clock.ts'
import { query } from '#runtime/postgres.ts'

/** Unix milliseconds: before them every day of this roll-up stands in the roll-up by the day; -Infinity: none does. */
export type CountedDays = (rollup: string) => Promise<number>

/** It moves once a day and never back, so an answer that is a minute old is still true. */
const keptMs = 60_000

/** Asked for apart from what is counted, because only bounds that are known when a statement is planned make Postgres choose well (40 ms against 3). */
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
