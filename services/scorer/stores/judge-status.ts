import type { Pool } from 'pg'
import { query } from '#runtime/postgres.ts'

/** Notes that a scorer with a judge, or one without, runs. */
export async function noteJudge(pool: Pool, isConfigured: boolean): Promise<void> {
  await query(
    pool,
    `insert into judge_status (is_configured, seen_at) values ($1, now())
     on conflict (is_configured) do update set seen_at = excluded.seen_at`,
    [isConfigured],
  )
}
