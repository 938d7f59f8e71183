import type { Pool } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import { query } from '#runtime/postgres.ts'
import { idToUuid } from '#schemas/ids.ts'

/** When keys were last used. Buffered and written together, so that no request waits for it. */
export interface KeyUses {
  note(keyId: string): void
  /** Writes what was noted. Uses that cannot be written are kept for the next time. */
  flush(): Promise<void>
  start(): void
  /** Writes the rest. */
  stop(): Promise<void>
}

/** A key's row is written at most this often by each process. */
const intervalMs = 60_000
/** A bound on memory. Only valid keys are noted, so no installation should reach it. */
const maxKeys = 100_000

export function createKeyUses({ pool, clock, log }: { pool: Pool; clock: Clock; log: Log }): KeyUses {
  const stopping = new AbortController()
  let used = new Map<string, number>()
  let running: Promise<void> | undefined

  async function flush(): Promise<void> {
    if (used.size === 0) return
    const noted = used
    used = new Map()
    try {
      await query(pool, 'select note_key_uses($1::uuid[], $2::timestamptz[])', [
        [...noted.keys()].map(idToUuid),
        [...noted.values()].map((ms) => new Date(ms)),
      ])
    } catch (error) {
      log.warn({ err: error, keys: noted.size }, 'last uses of keys not written; retrying')
      used = new Map([...noted, ...used])
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(intervalMs, stopping.signal)
      await flush()
    }
  }

  return {
    note(keyId) {
      if (used.size < maxKeys || used.has(keyId)) used.set(keyId, clock.now())
    },
    flush,
    start() {
      running ??= run()
    },
    async stop() {
      stopping.abort()
      await running
      await flush()
    },
  }
}
