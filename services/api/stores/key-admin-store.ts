import { randomBytes } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { inTransaction, query } from '#runtime/postgres.ts'
import { idFromUuid, idToUuid, newId } from '#schemas/ids.ts'
import { hashOfKey } from '#http/access/credentials.ts'
import type { LimitColumns } from '#http/access/key-store.ts'
import type { KeyScope } from '#http/access/principal.ts'
import { announceAccessChange } from '#http/access/access-changes.ts'
import { changedFrom, writeAudit, type Actor } from './audit-store.ts'
import { dollarsOf, monthOf } from '#schemas/picodollars.ts'

/** What a key may carry, as the API shows it. */
export interface KeyLimitFields extends Omit<LimitColumns, 'user_id' | 'monthly_budget_usd'> {
  user: string | null
  monthly_budget_usd: number | null
}

export interface KeyInput extends KeyLimitFields {
  name: string
  label: string | null
  scope: KeyScope
  /** Unix milliseconds; null: never. */
  expiresAtMs: number | null
}

export type KeyChanges = Partial<KeyLimitFields & { name: string }>

/** What is shown of a key after its creation: never the secret. */
export interface KeyDescription extends KeyLimitFields {
  id: string
  name: string
  label: string | null
  last4: string
  scope: KeyScope
  /** This month, by what gateways have reported. Null without a budget. */
  spent_usd: number | null
  reserved_usd: number | null
  created_at: string
  expires_at: string | null
  expired: boolean
  last_used_at: string | null
}

interface KeyRow extends LimitColumns {
  id: string
  name: string
  label: string | null
  last4: string
  scope: KeyScope
  created_at: Date
  expires_at: Date | null
  last_used_at: Date | null
  spent: string
  reserved: string
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
  /** Undefined when the project has no such valid key. */
  find(projectId: string, keyId: string, nowMs: number): Promise<KeyDescription | undefined>
  /** Undefined when the project has no such valid key. */
  change(
    by: Actor,
    projectId: string,
    keyId: string,
    changes: KeyChanges,
    nowMs: number,
  ): Promise<KeyDescription | undefined>
  /** Keys that are not revoked, newest first. Expired ones are included, to explain a refusal. */
  list(
    projectId: string,
    page: { limit: number; offset: number },
    nowMs: number,
  ): Promise<{ items: KeyDescription[]; total: number }>
  /** False when the project has no such valid key. */
  revoke(by: Actor, projectId: string, keyId: string, nowMs: number): Promise<boolean>
}

/** A field of the API, and its column. */
const changeable = {
  name: 'name',
  user: 'user_id',
  team: 'team',
  models: 'models',
  capture: 'capture',
  rate_limit_per_minute: 'rate_limit_per_minute',
  monthly_budget_usd: 'monthly_budget_usd',
  when_unknown: 'when_unknown',
} as const satisfies Record<keyof KeyChanges, string>

const columns = Object.values(changeable)
/** The lease of a process that has ended holds only what was under way (budgets/lease-book.ts). */
const selectKeys = `
  select k.id, k.label, k.last4, k.scope, k.created_at, k.expires_at, k.last_used_at, ${columns.map((name) => `k.${name}`).join(', ')},
    coalesce(sum(l.spent), 0) as spent,
    coalesce(sum(case when l.expires_at > $2 then greatest(l.granted - l.spent, l.under_way) else l.under_way end), 0) as reserved
  from api_keys k left join key_leases l on l.key_id = k.id and l.month = $3
  where k.project_id = $1 and k.revoked_at is null`
const grouped = 'group by k.id'

export function createKeyAdminStore(pool: Pool): KeyAdminStore {
  return {
    create: (by, projectId, input, nowMs) =>
      inTransaction(pool, (client) => createKey(client, by, projectId, input, nowMs)),
    find: (projectId, keyId, nowMs) => findKey(pool, projectId, keyId, nowMs),
    change: (by, projectId, keyId, changes, nowMs) =>
      inTransaction(pool, (client) => changeKey(client, by, { projectId, keyId, changes }, nowMs)),
    async list(projectId, { limit, offset }, nowMs) {
      const { rows } = await query<KeyRow>(
        pool,
        `${selectKeys} ${grouped} order by k.created_at desc, k.id desc limit $4 offset $5`,
        [...selected(projectId, nowMs), limit, offset],
      )
      const counted = await query<{ total: number }>(
        pool,
        'select count(*)::integer as total from api_keys where project_id = $1 and revoked_at is null',
        [idToUuid(projectId)],
      )
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

function selected(projectId: string, nowMs: number): unknown[] {
  return [idToUuid(projectId), new Date(nowMs), monthOf(nowMs)]
}

export async function findKey(
  client: Pool | PoolClient,
  projectId: string,
  keyId: string,
  nowMs: number,
): Promise<KeyDescription | undefined> {
  const { rows } = await query<KeyRow>(client, `${selectKeys} and k.id = $4 ${grouped}`, [
    ...selected(projectId, nowMs),
    idToUuid(keyId),
  ])
  return rows[0] === undefined ? undefined : describeKey(rows[0], nowMs)
}

async function createKey(
  client: PoolClient,
  by: Actor,
  projectId: string,
  input: KeyInput,
  nowMs: number,
): Promise<KeyDescription & { key: string }> {
  const key = newKey(input.label)
  const id = await insertKey(client, by, projectId, { ...input, key }, nowMs)
  const described = await findKey(client, projectId, id, nowMs)
  if (described === undefined) throw new Error('the key that was just made is not there')
  return { ...described, key }
}

/** Stores a key whose secret is known, with its audit entry. Returns its id. */
export async function insertKey(
  client: PoolClient,
  by: Actor,
  projectId: string,
  { key, expiresAtMs, label, scope, ...given }: KeyInput & { key: string },
  nowMs: number,
): Promise<string> {
  const id = newId('key', nowMs)
  const fields = Object.keys(changeable) as (keyof typeof changeable)[]
  await client.query(
    `insert into api_keys (id, project_id, label, secret_sha256, last4, scope, created_at, expires_at, ${columns.join(', ')})
     values ($1, $2, $3, $4, $5, $6, $7, $8, ${columns.map((_name, index) => `$${index + 9}`).join(', ')})`,
    [
      ...[idToUuid(id), idToUuid(projectId), label, hashOfKey(key), key.slice(-4), scope, new Date(nowMs)],
      expiresAtMs === null ? null : new Date(expiresAtMs),
      ...fields.map((name) => given[name]),
    ],
  )
  const { name, ...limits } = given
  const detail = { name, label, scope, ...carriedBy(limits) }
  const created = { action: 'key.created', subject: id, projectId, detail }
  await writeAudit(client, by, created, nowMs)
  return id
}

const usual: readonly unknown[] = [null, 'full', 'stop']

/** Without what every key has. */
function carriedBy(limits: KeyLimitFields): Partial<KeyLimitFields> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => !usual.includes(value)))
}

export async function changeKey(
  client: PoolClient,
  by: Actor,
  { projectId, keyId, changes }: { projectId: string; keyId: string; changes: KeyChanges },
  nowMs: number,
): Promise<KeyDescription | undefined> {
  const ids = [idToUuid(projectId), idToUuid(keyId)]
  await client.query('select from api_keys where project_id = $1 and id = $2 for update', ids)
  const before = await findKey(client, projectId, keyId, nowMs)
  if (before === undefined) return undefined
  for (const [field, column] of Object.entries(changeable) as [keyof typeof changeable, string][]) {
    if (changes[field] === undefined) continue
    const change = `update api_keys set ${column} = $3 where project_id = $1 and id = $2`
    await client.query(change, [...ids, changes[field]])
  }
  // Another budget may be exceeded again.
  if (changes.monthly_budget_usd !== undefined && changes.monthly_budget_usd !== before.monthly_budget_usd)
    await client.query('update key_months set exceeded_at = null where project_id = $1 and key_id = $2', ids)
  await announceAccessChange(client, projectId)
  const changed = { action: 'key.changed', subject: keyId, projectId }
  await writeAudit(client, by, { ...changed, detail: changedFrom(before, changes) }, nowMs)
  return findKey(client, projectId, keyId, nowMs)
}

function newKey(label: string | null): string {
  const secret = randomBytes(24).toString('hex')
  return label === null ? `svc_${secret}` : `svc_${label}_${secret}`
}

function describeKey(row: KeyRow, nowMs: number): KeyDescription {
  const { user_id: user, monthly_budget_usd: budget, spent, reserved, ...shown } = row
  return {
    ...shown,
    id: idFromUuid('key', row.id),
    user,
    monthly_budget_usd: budget === null ? null : Number(budget),
    spent_usd: budget === null ? null : dollarsOf(BigInt(spent)),
    reserved_usd: budget === null ? null : dollarsOf(BigInt(reserved)),
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    expired: row.expires_at !== null && row.expires_at.getTime() <= nowMs,
    last_used_at: row.last_used_at?.toISOString() ?? null,
  }
}
