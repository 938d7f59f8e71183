import type { Pool, PoolClient } from 'pg'
import { hasManyParts } from '#capture/json.ts'
import { joinCalls, progressOf, type WaitingCall } from '#capture/otel/waiting-call.ts'
import { inProjectTransaction } from '#http/access/project-transaction.ts'
import type { ProjectSettings } from '#http/access/principal.ts'
import { unavailable } from '#http/problem.ts'
import { SluiceError } from '#runtime/errors.ts'
import type { Clock } from '#runtime/clock.ts'
import { postgresArray } from '#runtime/postgres-arrays.ts'
import { query } from '#runtime/postgres.ts'
import type { TakeTurn } from '#runtime/take-turns.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { idFromUuid, idToBytes, idToUuid } from '#schemas/ids.ts'
import { sealedIdentity, sealedOf, type SealedBytes } from '#schemas/sealed-bytes.ts'
import { createOneAtATime } from '../steps/one-at-a-time.ts'
import { fitsBeside, type Held } from '../steps/fits-beside.ts'

/** `late`: its record was published. `full`: it finds no room. */
export type AddOutcome = 'waiting' | 'late' | 'full'

/** A call that is due, for the process that took it. Null: its key is gone. */
export interface DueCall {
  id: string
  version: number
  call: WaitingCall | null
}

/** Calls whose span and words wait for each other, sealed. All processes of ingest share them. */
export interface WaitingCallStore {
  /** How long at most, in milliseconds. */
  waitMs: number
  /**
   * Whether calls of a project may wait: with zero content retention nothing is kept, and where it masks only
   * what is encrypted, as calls are masked when they are published.
   */
  takesOf(project: ProjectSettings): boolean
  /** Joins each part with what waits of its call. The identifiers have no time, as words do not know it. */
  add(projectId: string, parts: ReadonlyMap<string, WaitingCall>): Promise<Map<string, AddOutcome>>
  /** Projects with calls that are due. */
  findDue(): Promise<string[]>
  /** Takes some that are due, for a while. `spanless` counts those that are deleted without a span. */
  take(projectId: string): Promise<{ calls: DueCall[]; spanless: number }>
  /** Kafka has their records: returns how many parts came since they were taken. */
  markPublished(projectId: string, calls: readonly DueCall[]): Promise<number>
  count(): Promise<{ calls: number; bytes: number }>
}

interface StoreOptions {
  pool: Pool
  sealer: Sealer
  clock: Clock
  waitMs: number
  /** Whether `sealer` encrypts. */
  isSealed: boolean
  /** Of one call, opened. */
  maxCallBytes: number
  takeTurn: TakeTurn
}

/** Longer than Kafka takes to acknowledge or refuse a batch. */
const leaseMs = 30_000
/** Other messages of a call come with the next export of their batch. */
const longestSettleMs = 2_000
/** So long what this process cannot open is left to another, which may have the key. */
const otherKeysMs = 600_000
const takenAtOnce = { calls: 500, bytes: 8 * 1024 * 1024 }

const noWords: WaitingCall = { span: null, logs: [], truncated: false }

interface Row {
  id: string
  codec: string | null
  key_id: string | null
  data: Buffer | null
  bytes: number
  has_span: boolean
  version: number
  since: Date
}

export function createWaitingCallStore(options: StoreOptions): WaitingCallStore {
  const { pool, clock, waitMs, isSealed } = options
  const oneAtATime = createOneAtATime()
  // One at a time for each project: the bound is exact, and rows are locked in one order. Here first: those
  // that wait for the lock would take the connections of other projects.
  const inProject = <T>(projectId: string, work: (client: PoolClient) => Promise<T>) =>
    oneAtATime(projectId, () =>
      inProjectTransaction(pool, projectId, async (client) => {
        await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`waiting ${projectId}`])
        return work(client)
      }),
    )
  return {
    waitMs,
    takesOf: ({ zeroContentRetention, masks }) =>
      waitMs > 0 && !zeroContentRetention && (masks !== true || isSealed),
    add: (projectId, parts) =>
      parts.size === 0
        ? Promise.resolve(new Map())
        : inProject(projectId, (client) => addParts(client, options, projectId, parts)),
    async findDue() {
      const { rows } = await query<{ project_id: string }>(
        pool,
        'select * from projects_with_due_calls($1)',
        [new Date(clock.now())],
      )
      return rows.map(({ project_id }) => idFromUuid('project', project_id))
    },
    take: (projectId) => inProject(projectId, (client) => takeDue(client, options, projectId)),
    markPublished: (projectId, calls) =>
      inProject(projectId, async (client) => {
        const { rows } = await client.query<{ late: number }>(
          `update waiting_calls w set codec = null, key_id = null, data = null, bytes = 0, lease_until = null, due_at = $2
           from unnest($3::uuid[], $4::integer[]) as taken (id, version)
           where w.project_id = $1 and w.id = taken.id returning w.version - taken.version as late`,
          [
            idToUuid(projectId),
            new Date(clock.now() + waitMs),
            calls.map(({ id }) => idToUuid(id)),
            calls.map(({ version }) => version),
          ],
        )
        return rows.reduce((sum, { late }) => sum + late, 0)
      }),
    async count() {
      const { rows } = await query<{ calls: string; bytes: string }>(
        pool,
        'select * from count_waiting_calls()',
      )
      return { calls: Number(rows[0]?.calls ?? 0), bytes: Number(rows[0]?.bytes ?? 0) }
    },
  }
}

async function addParts(
  client: PoolClient,
  options: StoreOptions,
  projectId: string,
  parts: ReadonlyMap<string, WaitingCall>,
): Promise<Map<string, AddOutcome>> {
  const project = idToUuid(projectId)
  const nowMs = options.clock.now()
  const known = await client.query<Row>(
    'select * from waiting_calls where project_id = $1 and id = any($2::uuid[])',
    [project, [...parts.keys()].map(idToUuid)],
  )
  const rows = new Map(known.rows.map((row) => [idFromUuid('request', row.id), row]))
  const sums = await client.query<{ calls: string; bytes: string }>(
    'select count(*) as calls, coalesce(sum(bytes), 0) as bytes from waiting_calls where project_id = $1',
    [project],
  )
  const held: Held = { calls: Number(sums.rows[0]?.calls), bytes: Number(sums.rows[0]?.bytes) }
  const changed: Changed[] = []
  const outcomes = new Map<string, AddOutcome>()
  for (const [id, part] of parts) {
    await options.takeTurn()
    const row = rows.get(id)
    if (row !== undefined && row.codec === null) {
      outcomes.set(id, 'late')
      continue
    }
    const before = row === undefined ? null : openCall(options, projectId, id, row)
    if (row !== undefined && before === null)
      throw unavailable(
        'STORAGE_UNAVAILABLE',
        'what waits of the call cannot be opened here; send it again',
        null,
      )
    const joined = before === null ? part : joinCalls(before, part)
    const text = JSON.stringify(joined)
    if (before !== null && text === JSON.stringify(before)) {
      outcomes.set(id, 'waiting')
      continue
    }
    const added = { calls: row === undefined ? 1 : 0, bytes: Buffer.byteLength(text) - (row?.bytes ?? 0) }
    const fits = fitsRecord(text, options) && fitsBeside(held, added, joined)
    outcomes.set(id, fits ? 'waiting' : 'full')
    const canSay = part.span === null && fitsBeside(held, { calls: added.calls, bytes: 0 }, part)
    // A call that lost words says so. A span without room does not wait.
    const kept = fits ? joined : canSay ? { ...(before ?? noWords), truncated: true } : null
    if (kept === null) continue
    held.calls += added.calls
    changed.push(changeOf(options, projectId, { id, kept, sinceMs: row?.since.getTime() ?? nowMs, nowMs }))
    held.bytes += (changed.at(-1)?.bytes ?? 0) - (row?.bytes ?? 0)
  }
  await write(client, project, changed)
  return outcomes
}

function fitsRecord(text: string, { maxCallBytes }: StoreOptions): boolean {
  return Buffer.byteLength(text) <= maxCallBytes && !hasManyParts(text)
}

function changeOf(
  options: StoreOptions,
  projectId: string,
  { id, kept, sinceMs, nowMs }: { id: string; kept: WaitingCall; sinceMs: number; nowMs: number },
): Changed {
  const bytes = Buffer.from(JSON.stringify(kept))
  const sealed = options.sealer.seal(bytes, identityOf(projectId, id))
  const dueMs = dueAt(kept, sinceMs, nowMs, options)
  return { id, sealed, bytes: bytes.length, hasSpan: kept.span !== null, sinceMs, dueMs }
}

function dueAt(call: WaitingCall, sinceMs: number, nowMs: number, { waitMs }: StoreOptions): number {
  const progress = progressOf(call)
  if (progress === 'whole') return nowMs
  const latestMs = sinceMs + waitMs
  return progress === 'open' ? latestMs : Math.min(latestMs, nowMs + Math.min(longestSettleMs, waitMs / 10))
}

interface Changed {
  id: string
  sealed: SealedBytes
  bytes: number
  hasSpan: boolean
  sinceMs: number
  dueMs: number
}

async function write(client: PoolClient, project: string, changed: readonly Changed[]): Promise<void> {
  if (changed.length === 0) return
  await client.query(
    `insert into waiting_calls as w (project_id, id, codec, key_id, data, bytes, has_span, since, due_at)
     select $1, * from unnest($2::uuid[], $3::text[], $4::text[], $5::bytea[], $6::integer[], $7::boolean[], $8::timestamptz[], $9::timestamptz[])
     on conflict (project_id, id) do update set codec = excluded.codec, key_id = excluded.key_id, data = excluded.data,
       bytes = excluded.bytes, has_span = excluded.has_span, due_at = excluded.due_at, version = w.version + 1`,
    [
      project,
      postgresArray('uuid', changed, ({ id }) => idToBytes(id)),
      postgresArray('text', changed, ({ sealed }) => sealed.codec),
      postgresArray('text', changed, ({ sealed }) => sealed.key_id),
      postgresArray('bytea', changed, ({ sealed }) => sealed.data),
      postgresArray('int4', changed, ({ bytes }) => bytes),
      postgresArray('bool', changed, ({ hasSpan }) => hasSpan),
      postgresArray('timestamptz', changed, ({ sinceMs }) => sinceMs),
      postgresArray('timestamptz', changed, ({ dueMs }) => Math.floor(dueMs)),
    ],
  )
}

async function takeDue(
  client: PoolClient,
  options: StoreOptions,
  projectId: string,
): Promise<{ calls: DueCall[]; spanless: number }> {
  const nowMs = options.clock.now()
  const due = 'project_id = $1 and due_at <= $2 and (lease_until is null or lease_until <= $2)'
  const values = [idToUuid(projectId), new Date(nowMs)]
  const gone = await client.query<{ spanless: boolean }>(
    `delete from waiting_calls where ${due} and (codec is null or not has_span) returning codec is not null as spanless`,
    values,
  )
  const { rows } = await client.query<Row>(
    `update waiting_calls w set lease_until = $3 from (
       select id, sum(bytes) over (order by due_at, id) - bytes as before from (
         select id, due_at, bytes from waiting_calls where ${due} order by due_at, id limit $4) first
     ) taken where w.project_id = $1 and w.id = taken.id and taken.before < $5 returning w.*`,
    [...values, new Date(nowMs + leaseMs), takenAtOnce.calls, takenAtOnce.bytes],
  )
  const calls = rows.flatMap((row): DueCall[] => {
    const id = idFromUuid('request', row.id)
    const call = openCall(options, projectId, id, row)
    const isLeft = call === null && nowMs - row.since.getTime() < otherKeysMs
    return isLeft ? [] : [{ id, version: row.version, call }]
  })
  return { calls, spanless: gone.rows.filter(({ spanless }) => spanless).length }
}

const identityOf = (projectId: string, id: string) => sealedIdentity(projectId, id, 'waiting_call')

/** Null: it cannot be opened. */
function openCall({ sealer }: StoreOptions, projectId: string, id: string, row: Row): WaitingCall | null {
  const sealed = sealedOf(row.codec, row.key_id, row.data)
  if (sealed === null) return null
  try {
    return JSON.parse(sealer.open(sealed, identityOf(projectId, id)).toString()) as WaitingCall
  } catch (error) {
    if (error instanceof SluiceError) return null
    throw error
  }
}
