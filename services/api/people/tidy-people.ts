import type { Pool } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import { query } from '#runtime/postgres.ts'
import type { LoginLimits } from '../stores/login-store.ts'
import type { ThrottleStore } from '../stores/login-throttle-store.ts'

interface TidyOptions {
  pool: Pool
  throttles: ThrottleStore
  limits: LoginLimits
  auditMs: number
  clock: Clock
  log: Log
}

export interface TidyPeople {
  /** Deletes ended logins, expired failures and old entries of the audit log. */
  tidy(): Promise<void>
  start(): void
  stop(): Promise<void>
}

const intervalMs = 3_600_000

/** Hourly deletion of expired rows. Every API process does it; deleting twice is harmless. */
export function createTidyPeople({ pool, throttles, limits, auditMs, clock, log }: TidyOptions): TidyPeople {
  const stopping = new AbortController()
  let running: Promise<void> | undefined

  async function tidy(): Promise<void> {
    const nowMs = clock.now()
    await query(pool, 'delete from logins where ends_at <= $1 or last_seen_at <= $2', [
      new Date(nowMs),
      new Date(nowMs - limits.idleMs),
    ])
    await throttles.tidy(nowMs)
    // Postgres's clock as well: a host whose clock is years ahead would delete everything.
    await query(
      pool,
      `delete from audit_log where at < least($1::timestamptz, now()) - $2 * interval '1 millisecond'`,
      [new Date(nowMs), auditMs],
    )
  }

  async function run(): Promise<void> {
    for (;;) {
      await clock.sleep(intervalMs, stopping.signal)
      if (stopping.signal.aborted) return
      await tidy().catch((error: unknown) => {
        log.warn({ err: error }, 'expired rows not deleted; retrying in an hour')
      })
    }
  }

  return {
    tidy,
    start() {
      running ??= run()
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}
