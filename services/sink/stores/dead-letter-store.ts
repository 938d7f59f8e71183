import type { Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import type { DeadLetterRow } from '../steps/describe-dead-letter.ts'

const insertSql = `
  insert into dead_letters (id, cluster, topic, partition, "offset", source_partition, source_offset, group_id, code, message,
    record_key, project_id, request_id, value_bytes, dead_at)
  select * from unnest($1::uuid[], $2::text[], $3::text[], $4::integer[], $5::bigint[], $6::integer[], $7::bigint[], $8::text[],
    $9::text[], $10::text[], $11::text[], $12::uuid[], $13::uuid[], $14::integer[], $15::timestamptz[])
  on conflict do nothing`

/** Indexes dead letters; existing rows stay. Throws TransientError if Postgres is away. */
export async function insertDeadLetters(pool: Pool, rows: readonly DeadLetterRow[]): Promise<void> {
  if (rows.length === 0) return
  await query(pool, insertSql, [
    rows.map(({ uuid }) => uuid),
    rows.map(({ cluster }) => cluster),
    rows.map(({ topic }) => topic),
    rows.map(({ partition }) => partition),
    rows.map(({ offset }) => offset.toString()),
    rows.map(({ sourcePartition }) => sourcePartition),
    rows.map(({ sourceOffset }) => sourceOffset?.toString() ?? null),
    rows.map(({ groupId }) => groupId),
    rows.map(({ code }) => code),
    rows.map(({ message }) => message),
    rows.map(({ key }) => key),
    rows.map(({ projectUuid }) => projectUuid),
    rows.map(({ requestUuid }) => requestUuid),
    rows.map(({ valueBytes }) => valueBytes),
    rows.map(({ deadAtMs }) => new Date(deadAtMs)),
  ])
}
