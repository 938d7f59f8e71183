import { DatabaseError, type Pool } from 'pg'
import type { Resealer } from '#runtime/sealing.ts'
import { messageOf } from '#runtime/errors.ts'
import { query } from '#runtime/postgres.ts'
import { sealedColumns, type SealedColumn } from './sealed-columns.ts'

export interface Rotated {
  /** Sealed again with the encrypting key. */
  resealed: number
  /** Unchanged, because no key opens them or they were altered. The first few are passed to `onUnopened`. */
  unopened: number
}

export interface RotateOptions {
  pool: Pool
  resealer: Resealer
  /** Called after each batch. */
  onBatch: (table: string, rotated: Rotated) => void | Promise<void>
  onUnopened: (table: string, reason: string) => void
  /** Bounds of a batch, which is one statement: limits memory, and how long rows are locked. */
  batchRows?: number
  batchBytes?: number
}

/**
 * Seals all values in Postgres that another key sealed again with the encrypting key. Progress is in the
 * rows, so a killed rotation can continue and two at once do no harm. Rows that arrive under an old key
 * meanwhile (from Kafka) need another run.
 */
export async function rotateBodies(options: RotateOptions): Promise<Rotated> {
  const rotated = { resealed: 0, unopened: 0 }
  for (const column of sealedColumns) {
    for (const leaf of await leavesOf(options.pool, column.table))
      await unlessDropped(rotateLeaf(leaf, column, rotated, options))
  }
  return rotated
}

const noSuchTable = '42P01'

/**
 * Ignores a dropped partition: they are listed once, oldest first, and retention drops the oldest day at
 * midnight, with all that was left to seal in it.
 */
async function unlessDropped(work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof DatabaseError) || error.code !== noSuchTable) throw error
  })
}

/** The partitions of a table, or the table itself. */
async function leavesOf(pool: Pool, table: string): Promise<string[]> {
  const { rows } = await query<{ name: string }>(
    pool,
    `select relid::regclass::text as name from pg_partition_tree($1) where isleaf order by 1`,
    [table],
  )
  return rows.length > 0 ? rows.map(({ name }) => name) : [table]
}

type Row = Record<string, unknown> & { codec: string; key_id: string | null; data: Buffer }

async function rotateLeaf(leaf: string, column: SealedColumn, rotated: Rotated, options: RotateOptions) {
  const { pool, resealer, onBatch, onUnopened } = options
  const { currentKeyId } = resealer
  let after: readonly unknown[] = []
  for (;;) {
    const rows = await readBatch(leaf, column, after, options)
    if (rows.length === 0) return
    const resealed: { row: Row; data: Buffer }[] = []
    for (const row of rows) {
      try {
        const identity = column.identityOf(row as unknown as Record<string, string | null>)
        resealed.push({ row, data: resealer.reseal(row, identity).data })
      } catch (error) {
        rotated.unopened++
        onUnopened(leaf, messageOf(error))
      }
    }
    rotated.resealed += await writeBatch(pool, leaf, column, currentKeyId, resealed)
    after = keyOf(column, rows.at(-1))
    await onBatch(leaf, rotated)
  }
}

const keyOf = ({ key }: SealedColumn, row: Row | undefined) => Object.keys(key).map((name) => row?.[name])

/** The next rows by key: as many as `batchBytes` allow, at least one. */
async function readBatch(
  leaf: string,
  { prefix, key, also }: SealedColumn,
  after: readonly unknown[],
  { pool, resealer, batchRows = 200, batchBytes = 16 * 1024 * 1024 }: RotateOptions,
): Promise<Row[]> {
  const keys = Object.keys(key)
  const names = keys.join(', ')
  const placeholders = keys.map((name, index) => `$${index + 4}::${key[name] ?? ''}`).join(', ')
  // Sizes first: octet_length reads only the row, not the value stored outside it.
  const { rows } = await query<Row>(
    pool,
    `select ${[...keys, ...also].map((name) => `t.${name}`).join(', ')}, t.${prefix}codec as codec, t.${prefix}key_id as key_id, t.${prefix}data as data
     from (
       select ${names}, sum(size) over (order by ${names}) - size as bytes_before from (
         select ${names}, octet_length(${prefix}data) as size from ${leaf}
         where ${prefix}data is not null and ${prefix}key_id is distinct from $1 ${after.length === 0 ? '' : `and (${names}) > (${placeholders})`}
         order by ${names} limit $2
       ) sized
     ) measured join ${leaf} t using (${names}) where bytes_before < $3 order by ${names}`,
    [resealer.currentKeyId, batchRows, batchBytes, ...after],
  )
  return rows
}

async function writeBatch(
  pool: Pool,
  leaf: string,
  { prefix, key }: SealedColumn,
  currentKeyId: string,
  resealed: readonly { row: Row; data: Buffer }[],
): Promise<number> {
  if (resealed.length === 0) return 0
  const keys = Object.entries(key)
  const arrays = keys.map(([, type], index) => `$${index + 4}::${type}[]`)
  const { rowCount } = await query(
    pool,
    `update ${leaf} t set ${prefix}key_id = $1, ${prefix}data = n.data
     from unnest($2::text[], $3::bytea[], ${arrays.join(', ')}) as n (old_key_id, data, ${keys.map(([name]) => name).join(', ')})
     where ${keys.map(([name]) => `t.${name} = n.${name}`).join(' and ')} and t.${prefix}key_id is not distinct from n.old_key_id`,
    [
      currentKeyId,
      resealed.map(({ row }) => row.key_id),
      resealed.map(({ data }) => data),
      ...keys.map(([name]) => resealed.map(({ row }) => row[name])),
    ],
  )
  return rowCount ?? 0
}
