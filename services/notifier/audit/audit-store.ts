import type { Pool } from 'pg'
import { inTransaction, query } from '#runtime/postgres.ts'
import type { AuditRow } from './render-api-activity.ts'

/** Other tasks' locks: infra/advisory-locks.test.ts. */
const auditStreamLock = 7_355_641
/** Entries of one request. */
const maxEntries = 200

export interface AuditStore {
  /**
   * Hands the oldest unsent entries to `send` and marks them if it resolves to null, else keeps them. One
   * process at a time. Returns how many were marked, or why none was.
   */
  streamSome(send: (rows: readonly AuditRow[]) => Promise<string | null>): Promise<number | string>
  /** Seconds since the oldest unsent entry; 0 without one. */
  lagSeconds(): Promise<number>
}

/**
 * A mark for each entry, not a position in the log: transactions commit out of order, and a restored backup
 * goes on where it was. A crash between the request and the mark repeats the request.
 */
export function createAuditStore(pool: Pool): AuditStore {
  return {
    streamSome: (send) =>
      inTransaction(pool, async (client) => {
        const { rows: locks } = await client.query<{ elected: boolean }>(
          'select pg_try_advisory_xact_lock($1) as elected',
          [auditStreamLock],
        )
        if (locks[0]?.elected !== true) return 0
        const { rows } = await client.query<AuditRow>(
          `select id, at, actor_kind, actor_id, actor_name, address, action, subject, project_id, detail
           from audit_log where streamed_at is null order by at, id limit $1`,
          [maxEntries],
        )
        if (rows.length === 0) return 0
        const error = await send(rows)
        if (error !== null) return error
        const ids = rows.map(({ id }) => id)
        await client.query('update audit_log set streamed_at = now() where id = any($1)', [ids])
        return rows.length
      }),
    async lagSeconds() {
      const { rows } = await query<{ seconds: number }>(
        pool,
        `select coalesce(extract(epoch from now() - min(at)), 0)::float8 as seconds
         from audit_log where streamed_at is null`,
      )
      return Math.max(0, rows[0]?.seconds ?? 0)
    },
  }
}
