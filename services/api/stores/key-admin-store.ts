import { randomBytes } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { inTransaction, query } from '#runtime/postgres.ts'
import { idFromUuid, idToUuid, newId } from '#schemas/ids.ts'
import { hashOfKey } from '#http/access/credentials.ts'
import type { KeyScope } from '#http/access/principal.ts'
import { announceAccessChange } from '#http/access/access-changes.ts'
import { writeAudit, type Actor } from './audit-store.ts'

export interface KeyInput {
  name: string
  label: string | null
  scope: KeyScope
  /** Unix milliseconds; null: never. */
  expiresAtMs: number | null
}

/** What is shown of a key after its creation: never the secret. */
export interface KeyDescription {
  id: string
  name: string
  label: string | null
  last4: string
  scope: KeyScope
  created_at: string
  expires_at: string | null
  expired: boolean
  last_used_at: string | null
}

interface KeyRow extends Omit<KeyDescription, 'created_at' | 'expires_at' | 'expired' | 'last_used_at'> {
  created_at: Date
  expires_at: Date | null
  last_used_at: Date | null
}

/** Keys of any project: for the operator's routes only. */
export interface KeyAdminStore {
  /** Only this answer contains the whole key: its SHA-256 is stored. */
  create(
    by: Actor,
    projectId: string,
    input: KeyInput,
    nowMs: number,
  ): Promise<KeyDescription & { key: string }>
  /** Keys that are not revoked, newest first. Expired ones are included, to explain a refusal. */
  list(
    projectId: string,
    page: { limit: number; offset: number },
    nowMs: number,
  ): Promise<{ items: KeyDescription[]; total: number }>
  /** False when the project has no such valid key. */
  revoke(by: Actor, projectId: string, keyId: string, nowMs: number): Promise<boolean>
}

export function createKeyAdminStore(pool: Pool): KeyAdminStore {
  return {
    async create(by, projectId, { name, label, scope, expiresAtMs }, nowMs) {
      const id = newId('key', nowMs)
      const key = newKey(label)
      const last4 = key.slice(-4)
      const expiresAt = expiresAtMs === null ? null : new Date(expiresAtMs)
      const created = { action: 'key.created', subject: id, projectId, detail: { name, label, scope } }
      await inTransaction(pool, async (client) => {
        await insertKey(client, projectId, { id, key, last4, expiresAt, name, label, scope }, nowMs)
        await writeAudit(client, by, created, nowMs)
      })
      const created_at = new Date(nowMs).toISOString()
      return {
        id,
        name,
        label,
        key,
        last4,
        scope,
        created_at,
        expires_at: expiresAt?.toISOString() ?? null,
        expired: false,
        last_used_at: null,
      }
    },
    async list(projectId, { limit, offset }, nowMs) {
      const listed = 'from api_keys where project_id = $1 and revoked_at is null'
      const { rows } = await query<KeyRow>(
        pool,
        `select id, name, label, last4, scope, created_at, expires_at, last_used_at ${listed}
         order by created_at desc, id desc limit $2 offset $3`,
        [idToUuid(projectId), limit, offset],
      )
      const counted = await query<{ total: number }>(pool, `select count(*)::integer as total ${listed}`, [
        idToUuid(projectId),
      ])
      return { items: rows.map((row) => describeKey(row, nowMs)), total: counted.rows[0]?.total ?? 0 }
    },
    revoke: (by, projectId, keyId, nowMs) =>
      inTransaction(pool, async (client) => {
        const { rowCount } = await client.query(
          'update api_keys set revoked_at = $3 where project_id = $1 and id = $2 and revoked_at is null',
          [idToUuid(projectId), idToUuid(keyId), new Date(nowMs)],
        )
        await announceAccessChange(client, projectId)
        if (rowCount !== 1) return false
        await writeAudit(client, by, { action: 'key.revoked', subject: keyId, projectId }, nowMs)
        return true
      }),
  }
}

export interface NewKey extends Omit<KeyInput, 'expiresAtMs'> {
  id: string
  key: string
  last4: string
  expiresAt: Date | null
}

export async function insertKey(
  client: PoolClient,
  projectId: string,
  { id, key, last4, expiresAt, name, label, scope }: NewKey,
  nowMs: number,
): Promise<void> {
  await client.query(
    `insert into api_keys (id, project_id, name, label, secret_sha256, last4, scope, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      idToUuid(id),
      idToUuid(projectId),
      name,
      label,
      hashOfKey(key),
      last4,
      scope,
      new Date(nowMs),
      expiresAt,
    ],
  )
}

function newKey(label: string | null): string {
  const secret = randomBytes(24).toString('hex')
  return label === null ? `svc_${secret}` : `svc_${label}_${secret}`
}

function describeKey(row: KeyRow, nowMs: number): KeyDescription {
  return {
    ...row,
    id: idFromUuid('key', row.id),
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    expired: row.expires_at !== null && row.expires_at.getTime() <= nowMs,
    last_used_at: row.last_used_at?.toISOString() ?? null,
  }
}
