import type { Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import { longestKeptMs } from '#schemas/topics.ts'
import { sealedColumns } from './sealed-columns.ts'

export interface BodyKeyStatus {
  /** Null: unencrypted values. */
  keyId: string | null
  configured: boolean
  encrypts: boolean
  /** Values in Postgres that it opens. */
  values: number
  /**
   * Until when topics may hold what it sealed; null while it encrypts, or if it never did since this is
   * recorded.
   */
  keptInKafkaUntil: Date | null
}

/**
 * Records which configured key encrypts, and since when the others do not. Every process must have been
 * restarted with them.
 */
export async function noteBodyKeys(pool: Pool, keyIds: readonly string[], now: Date): Promise<void> {
  await query(
    pool,
    `insert into body_keys (key_id, retired_at)
     select key_id, case when place > 1 then $2::timestamptz end from unnest($1::text[]) with ordinality as keys (key_id, place)
     on conflict (key_id) do update set
       retired_at = case when excluded.retired_at is null then null else coalesce(body_keys.retired_at, excluded.retired_at) end`,
    [keyIds, now],
  )
}

/**
 * Every key that is configured or that data in Postgres or Kafka may need. Reads all tables with sealed
 * values.
 */
export async function bodyKeyStatus(pool: Pool, keyIds: readonly string[]): Promise<BodyKeyStatus[]> {
  const values = new Map<string | null, number>()
  for (const { table, prefix } of sealedColumns) {
    const { rows } = await query<{ key_id: string | null; count: string }>(
      pool,
      `select ${prefix}key_id as key_id, count(*) from ${table} where ${prefix}data is not null group by 1`,
    )
    for (const { key_id, count } of rows) values.set(key_id, (values.get(key_id) ?? 0) + Number(count))
  }
  const noted = await query<{ key_id: string; retired_at: Date | null }>(
    pool,
    'select key_id, retired_at from body_keys',
  )
  const retiredAt = new Map(noted.rows.map(({ key_id, retired_at }) => [key_id, retired_at]))
  const known = new Set<string | null>([...keyIds, ...retiredAt.keys(), ...values.keys()])
  return [...known].map((keyId) => {
    const retired = keyId === null ? null : (retiredAt.get(keyId) ?? null)
    return {
      keyId,
      configured: keyId !== null && keyIds.includes(keyId),
      encrypts: keyId !== null && keyId === keyIds[0],
      values: values.get(keyId) ?? 0,
      keptInKafkaUntil: retired === null ? null : new Date(retired.getTime() + longestKeptMs),
    }
  })
}

/** Why a key must stay in BODY_ENCRYPTION_KEYS; undefined: nothing refers to it. */
export function whyNeeded(status: BodyKeyStatus, now: Date): string | undefined {
  if (status.encrypts) return 'it encrypts'
  if (status.values > 0) return `${status.values} values in Postgres: scripts/keys rotate-bodies`
  const until = status.keptInKafkaUntil
  return until !== null && until > now
    ? `topics may hold what it sealed until ${until.toISOString()}`
    : undefined
}
