import type { Pool, PoolClient } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'

/** Where a change of a project's keys or settings is announced; the payload is the project's identifier. */
const accessChannel = 'sluice_access'

/** Hears of revoked keys and changed settings in other processes, so that they count at once here too. */
export interface AccessChanges {
  start(): void
  stop(): Promise<void>
  isListening: () => boolean
}

interface AccessChangesOptions {
  pool: Pool
  log: Log
  clock: Clock
  /** Null: something may have been missed. */
  onChange: (projectId: string | null) => void
}

const heartbeatMs = 10_000
const retryMs = 1_000

export function createAccessChanges({ pool, log, clock, onChange }: AccessChangesOptions): AccessChanges {
  const stopping = new AbortController()
  let listening = false
  let running: Promise<void> | undefined

  /** Listens until the connection breaks (rejects) or the listener is stopped. */
  async function listen(client: PoolClient): Promise<void> {
    const broken = Promise.withResolvers<never>()
    broken.promise.catch(() => undefined) // Told by the race below, or by nobody once that is over.
    client.on('error', broken.reject)
    client.on('end', () => broken.reject(new Error('the connection ended')))
    client.on('notification', ({ payload }) =>
      onChange(payload === undefined || payload === '' ? null : payload),
    )
    await client.query(`listen ${accessChannel}`)
    listening = true
    // What changed while nobody listened is unknown.
    onChange(null)
    while (!stopping.signal.aborted) {
      await Promise.race([clock.sleep(heartbeatMs, stopping.signal), broken.promise])
      // A connection that died without a word is found here, not by a revocation that never came.
      await Promise.race([client.query('select 1'), broken.promise])
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let client: PoolClient | undefined
      try {
        client = await pool.connect()
        await listen(client)
      } catch (error) {
        log.warn(
          { err: error },
          'not hearing of revoked keys: every key is checked at every use until this is back',
        )
      } finally {
        listening = false
        client?.removeAllListeners('notification')
        client?.release(true)
      }
      await clock.sleep(retryMs, stopping.signal)
    }
  }

  return {
    start() {
      running ??= run()
    },
    async stop() {
      stopping.abort()
      await running
    },
    isListening: () => listening,
  }
}

/** Tells every process that a key or a setting of the project changed, once this transaction is committed. */
export async function announceAccessChange(client: PoolClient, projectId: string): Promise<void> {
  await client.query('select pg_notify($1, $2)', [accessChannel, projectId])
}
