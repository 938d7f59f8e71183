import type { Pool, PoolClient } from 'pg'
import { query } from '#runtime/postgres.ts'
import { idFromUuid, idTimeMs, idToUuid } from '#schemas/ids.ts'
import type { Counted, Paging } from '../http/paging.ts'
import { Conditions } from './conditions.ts'
import { listRows } from './list-rows.ts'
import type { ProjectDatabase } from './project-database.ts'

export const deadLetterStatuses = ['open', 'redriven', 'dropped', 'lost'] as const
export type DeadLetterStatus = (typeof deadLetterStatuses)[number]

/** A dead letter as the index has it. */
export interface DeadLetter {
  id: string
  topic: string
  /** Its position in the dead-letter topic. */
  partition: number
  offset: number
  source_partition: number | null
  source_offset: number | null
  group_id: string | null
  code: string
  message: string
  key: string | null
  project_id: string | null
  request_id: string | null
  /** Null: its value was not kept. */
  value_bytes: number | null
  dead_at: string
  status: DeadLetterStatus
  decided_at: string | null
  reason: string | null
}

export interface DeadLetterFilter {
  topic?: string | undefined
  code?: string | undefined
  project_id?: string | undefined
  status?: DeadLetterStatus | undefined
  start?: number | undefined
  end?: number | undefined
}

type DeadLetterRow = Omit<DeadLetter, 'offset' | 'source_offset' | 'key' | 'dead_at' | 'decided_at'> & {
  offset: string
  source_offset: string | null
  record_key: string | null
  dead_at: Date
  decided_at: Date | null
}

/** Newest first. */
export async function listDeadLetters(
  database: ProjectDatabase,
  filter: DeadLetterFilter,
  paging: Paging,
): Promise<{ items: DeadLetter[]; counted: Counted }> {
  const { rows, counted } = await listRows<DeadLetterRow>(database, paging, {
    columns: 'd.*',
    from: 'dead_letters d',
    alias: 'd',
    timeColumn: 'd.dead_at',
    idColumn: 'd.id',
    conditions: conditionsOf(filter),
  })
  return { items: rows.map(letterOf), counted }
}

function conditionsOf({ topic, code, project_id, status, start, end }: DeadLetterFilter): Conditions {
  const conditions = new Conditions()
  conditions.equal('d.topic', topic)
  conditions.equal('d.code', code)
  conditions.equal('d.project_id', project_id === undefined ? undefined : idToUuid(project_id))
  conditions.equal('d.status', status)
  conditions.within('d.dead_at', start, end)
  return conditions
}

/** Bytes of values in memory during a bulk redrive. */
const roundBytes = 64 * 1024 * 1024

export interface OpenDeadLetters extends Omit<DeadLetterFilter, 'status'> {
  /** Only those after this one. */
  after?: string | undefined
  limit: number
}

/** The oldest open ones that have a value, at most `limit`, and fewer when their values are large. */
export async function sendableDeadLetters(
  database: ProjectDatabase,
  which: OpenDeadLetters,
): Promise<string[]> {
  const conditions = conditionsOfOpen(which)
  conditions.add('d.value_bytes is not null')
  const [atMost, bytes] = [conditions.bind(which.limit), conditions.bind(roundBytes)]
  const rows = await database.query<{ id: string }>(
    `select id from (
       select id, dead_at, sum(value_bytes) over (order by dead_at, id) - value_bytes as bytes_before from (
         select d.id, d.dead_at, d.value_bytes from dead_letters d where :scope(d)${conditions.text}
         order by d.dead_at, d.id limit ${atMost}
       ) oldest
     ) measured where bytes_before < ${bytes}::bigint order by dead_at, id`,
    conditions.values,
  )
  return rows.map(({ id }) => idFromUuid('deadLetter', id))
}

/** The oldest open ones, with or without a value, at most `limit`. */
export async function openDeadLetters(database: ProjectDatabase, which: OpenDeadLetters): Promise<string[]> {
  const conditions = conditionsOfOpen(which)
  const atMost = conditions.bind(which.limit)
  const rows = await database.query<{ id: string }>(
    `select d.id from dead_letters d where :scope(d)${conditions.text} order by d.dead_at, d.id limit ${atMost}`,
    conditions.values,
  )
  return rows.map(({ id }) => idFromUuid('deadLetter', id))
}

function conditionsOfOpen({ after, ...filter }: OpenDeadLetters): Conditions {
  const conditions = conditionsOf({ ...filter, status: 'open' })
  if (after !== undefined) {
    const [time, id] = [conditions.bind(new Date(idTimeMs(after))), conditions.bind(idToUuid(after))]
    conditions.add(`(d.dead_at, d.id) > (${time}::timestamptz, ${id}::uuid)`)
  }
  return conditions
}

export async function findDeadLetter(pool: Pool, id: string): Promise<DeadLetter | undefined> {
  const { rows } = await query<DeadLetterRow>(pool, 'select * from dead_letters where id = $1', [
    idToUuid(id),
  ])
  return rows[0] === undefined ? undefined : letterOf(rows[0])
}

/**
 * Locks them until the transaction ends: a concurrent decision about the same ones waits and sees the result.
 */
export async function lockDeadLetters(client: PoolClient, ids: readonly string[]): Promise<DeadLetter[]> {
  const { rows } = await query<DeadLetterRow>(
    client,
    'select * from dead_letters where id = any ($1::uuid[]) order by id for update',
    [ids.map(idToUuid)],
  )
  return rows.map(letterOf)
}

/** Stores the decision about locked ones. */
export async function decideDeadLetters(
  client: PoolClient,
  ids: readonly string[],
  { status, reason, nowMs }: { status: DeadLetterStatus; reason: string | null; nowMs: number },
): Promise<void> {
  if (ids.length === 0) return
  await query(
    client,
    'update dead_letters set status = $2, reason = $3, decided_at = $4 where id = any ($1::uuid[])',
    [ids.map(idToUuid), status, reason, new Date(nowMs)],
  )
}

function letterOf(row: DeadLetterRow): DeadLetter {
  return {
    id: idFromUuid('deadLetter', row.id),
    topic: row.topic,
    partition: row.partition,
    offset: Number(row.offset),
    source_partition: row.source_partition,
    source_offset: row.source_offset === null ? null : Number(row.source_offset),
    group_id: row.group_id,
    code: row.code,
    message: row.message,
    key: row.record_key,
    project_id: row.project_id === null ? null : idFromUuid('project', row.project_id),
    request_id: row.request_id === null ? null : idFromUuid('request', row.request_id),
    value_bytes: row.value_bytes,
    dead_at: row.dead_at.toISOString(),
    status: row.status,
    decided_at: row.decided_at?.toISOString() ?? null,
    reason: row.reason,
  }
}
