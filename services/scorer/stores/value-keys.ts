import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { ageAt, type Clock } from '#runtime/clock.ts'
import { PermanentError } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import { query } from '#runtime/postgres.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { createThrottledLog } from '#runtime/throttled-log.ts'
import { idToUuid } from '#schemas/ids.ts'
import { sealedIdentity, type SealedBytes } from '#schemas/sealed-bytes.ts'
import { valueHashKeyBytes } from '#schemas/value-hash.ts'
import type { ScorerMetrics } from '../scorer-metrics.ts'

/** A database restored from a backup may lack a key that was made since. */
const freshMs = 60_000
/** Beyond this, the least recently used are evicted. */
const maxProjects = 10_000

export interface ValueKeys {
  /**
   * The key under which a project's values are hashed, made at its first use. Null: the project is deleted,
   * or no configured key opens it. Throws TransientError if Postgres is away.
   */
  of(projectId: string): Promise<Buffer | null>
}

export interface ValueKeyDependencies {
  pool: Pool
  sealer: Sealer
  clock: Clock
  log: Log
  metrics: Pick<ScorerMetrics, 'unhashedValues'>
}

export function createValueKeys(dependencies: ValueKeyDependencies): ValueKeys {
  const { clock } = dependencies
  const known = new Map<string, { key: Promise<Buffer | null>; askedAtMs: number }>()
  const sayUnreadable = createThrottledLog(1, () => clock.now())
  const read = async (projectId: string) => {
    const sealed = await readOrMake(dependencies, projectId)
    if (sealed === undefined) return null
    try {
      return dependencies.sealer.open(sealed, sealedIdentity(projectId, projectId, 'value_hash_key'))
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error
      dependencies.metrics.unhashedValues.inc()
      sayUnreadable('unreadable', (unsaid) =>
        dependencies.log.error({ err: error, unsaid }, 'values are not hashed: their key does not open'),
      )
      return null
    }
  }
  return {
    of(projectId) {
      const found = known.get(projectId)
      if (found !== undefined && ageAt(clock.now(), found.askedAtMs) < freshMs) return found.key
      const key = read(projectId)
      // Shared by concurrent jobs. A failure is theirs too, and is not cached.
      key.catch(() => known.delete(projectId))
      known.delete(projectId)
      known.set(projectId, { key, askedAtMs: clock.now() })
      const oldest = known.size > maxProjects ? known.keys().next().value : undefined
      if (oldest !== undefined) known.delete(oldest)
      return key
    },
  }
}

const readSql = 'select codec, key_id, data from value_hash_keys where project_id = $1'
const addSql = `insert into value_hash_keys (project_id, codec, key_id, data, created_at)
  select id, $2, $3, $4, $5 from projects where id = $1 on conflict do nothing`

/** Of several processes that make one at once the first wins. */
async function readOrMake(
  { pool, sealer, clock }: ValueKeyDependencies,
  projectId: string,
): Promise<SealedBytes | undefined> {
  const uuid = idToUuid(projectId)
  const read = async () => (await query<SealedBytes>(pool, readSql, [uuid])).rows[0]
  const stored = await read()
  if (stored !== undefined) return stored
  const made = sealer.seal(
    randomBytes(valueHashKeyBytes),
    sealedIdentity(projectId, projectId, 'value_hash_key'),
  )
  await query(pool, addSql, [uuid, made.codec, made.key_id, made.data, new Date(clock.now())])
  return read()
}
