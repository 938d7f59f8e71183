import type { Pool, PoolClient } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'

/** Where a change of a project's keys or settings is announced; the payload is the project's identifier. */
const accessChannel = 'sluice_access'

/**
 * Listens for revoked keys and changed settings of other processes, so that they take effect here at once.
 */
export interface AccessChanges {
  start(): void
  stop(): Promise<void>
  isListening: () => boolean
}

interface AccessChangesOptions {
  pool: Pool
  log: Log
  clock: Clock
  /** Null: a change may have been missed. */
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
    broken.promise.catch(() => undefined) // Handled by the race below; ignored after it.
    client.on('error', broken.reject)
    client.on('end', () => broken.reject(new Error('the connection ended')))
    client.on('notification', ({ payload }) =>
      onChange(payload === undefined || payload === '' ? null : payload),
    )
    await client.query(`listen ${accessChannel}`)
    listening = true
    // Changes made before `listen` are unknown.
    onChange(null)
    while (!stopping.signal.aborted) {
      await Promise.race([clock.sleep(heartbeatMs, stopping.signal), broken.promise])
      // Finds a connection that died silently.
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
        log.warn({ err: error }, 'cannot listen for revoked keys; checking every key at every use')
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

/** Tells every process of a changed key or setting once this transaction is committed. */
export async function announceAccessChange(client: PoolClient, projectId: string): Promise<void> {
  await client.query('select pg_notify($1, $2)', [accessChannel, projectId])
}
