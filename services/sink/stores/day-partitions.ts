import type { Pool } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import { inTransaction, query } from '#runtime/postgres.ts'

const dayMs = 86_400_000

/** The UTC day of a time, `2026-11-21`. */
export function dayOf(timeMs: number): string {
  const day = Math.floor(timeMs / dayMs)
  // Of a batch nearly all are of one day.
  if (day !== lastDay.day) lastDay = { day, name: new Date(timeMs).toISOString().slice(0, 10) }
  return lastDay.name
}
let lastDay = { day: Number.NaN, name: '' }

export interface DayPartitions {
  /** Makes the partitions of `day` if missing. Throws TransientError while others lock the tables. */
  make(day: string): Promise<void>
  /** The days that can be written to: with partitions, or near enough to now to get some. */
  writable(days: ReadonlySet<string>): Promise<ReadonlySet<string>>
}

/**
 * Partitions by day of calls and scores. A day gets partitions if it is at most `maxAgeDays` back or one day
 * ahead: beyond that a wrong clock or a hostile record would fill the catalogue.
 */
export function createDayPartitions({
  pool,
  clock,
  maxAgeDays,
}: {
  pool: Pool
  clock: Clock
  maxAgeDays: number
}): DayPartitions {
  const known = new Set<string>()

  async function make(day: string): Promise<void> {
    await inTransaction(pool, async (client) => {
      // A short wait: while attaching waits for the parent's lock, every writer queues behind it.
      await client.query(`set local lock_timeout = '3s'`)
      await client.query('select ensure_day_partitions($1::date)', [day])
    })
    known.add(day)
  }

  function mayBeMade(day: string): boolean {
    const startMs = Date.parse(`${day}T00:00:00Z`)
    const now = clock.now()
    return startMs + dayMs > now - maxAgeDays * dayMs && startMs <= now + dayMs
  }

  async function isWritable(day: string): Promise<boolean> {
    if (known.has(day)) return true
    if (mayBeMade(day)) {
      await make(day)
      return true
    }
    const name = `llm_requests_${day.replaceAll('-', '')}`
    const { rows } = await query<{ present: boolean }>(
      pool,
      'select to_regclass($1) is not null as present',
      [name],
    )
    return rows[0]?.present === true
  }

  return {
    make,
    async writable(days) {
      const writable = new Set<string>()
      for (const day of days) if (await isWritable(day)) writable.add(day)
      return writable
    },
  }
}
