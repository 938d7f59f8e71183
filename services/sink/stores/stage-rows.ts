import type { ClientBase } from 'pg'
import { copyRows, type CopyColumn, type CopyType } from './copy-rows.ts'

const sqlTypes: Readonly<Record<CopyType, string>> = {
  uuid: 'uuid',
  text: 'text',
  jsonb: 'jsonb',
  int4: 'integer',
  int8: 'bigint',
  float8: 'double precision',
  timestamptz: 'timestamptz',
  bool: 'boolean',
  bytea: 'bytea',
}

/**
 * Copies rows into a temporary table of `client`'s session, with their order in `place`. It is made at first
 * use and empty after each transaction. COPY cannot skip existing rows; an INSERT from the temporary table
 * can.
 */
export async function stageRows<Row>(
  client: ClientBase,
  table: string,
  columns: readonly CopyColumn<Row>[],
  rows: readonly Row[],
): Promise<void> {
  const definitions = columns.map(({ name, type }) => `${name} ${sqlTypes[type]}`).join(', ')
  await client.query(
    `create temporary table if not exists ${table} (place integer, ${definitions}) on commit delete rows`,
  )
  let place = 0
  const placeColumn: CopyColumn<Row> = { name: 'place', type: 'int4', value: () => place++ }
  await copyRows(client, table, [placeColumn, ...columns], rows)
}
