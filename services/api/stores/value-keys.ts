import { randomBytes } from 'node:crypto'
import type { Sealer } from '#runtime/sealing.ts'
import { sealedIdentity, type SealedBytes } from '#schemas/sealed-bytes.ts'
import { valueHashKeyBytes } from '#schemas/value-hash.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

/**
 * The key under which the project's values are hashed; the scorer makes it too, and the first one stays.
 * Undefined: there is no such project. Throws PermanentError `CANNOT_OPEN`.
 */
export async function findValueKey(
  database: ProjectDatabase<OneProject>,
  sealer: Sealer,
  nowMs: number,
): Promise<Buffer | undefined> {
  const { projectId } = database.scope
  const identity = sealedIdentity(projectId, projectId, 'value_hash_key')
  const stored = (await read(database)) ?? (await make(database, sealer, identity, nowMs))
  return stored === undefined ? undefined : sealer.open(stored, identity)
}

async function read(database: ProjectDatabase<OneProject>): Promise<SealedBytes | undefined> {
  const [key] = await database.query<SealedBytes>(
    'select k.codec, k.key_id, k.data from value_hash_keys k where :scope(k)',
  )
  return key
}

async function make(
  database: ProjectDatabase<OneProject>,
  sealer: Sealer,
  identity: string,
  nowMs: number,
): Promise<SealedBytes | undefined> {
  const { codec, key_id, data } = sealer.seal(randomBytes(valueHashKeyBytes), identity)
  await database.query(
    `insert into value_hash_keys (project_id, codec, key_id, data, created_at)
     select u.project_id, $2, $3, $4, $5 from subscriptions u where :scope(u) on conflict do nothing`,
    [codec, key_id, data, new Date(nowMs)],
  )
  return read(database)
}
