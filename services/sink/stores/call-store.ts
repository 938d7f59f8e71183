import type { ClientBase, Pool } from 'pg'
import { PermanentError } from '#runtime/errors.ts'
import { createGroupCommit } from '#runtime/group-commit.ts'
import type { Position } from '#runtime/kafka/records.ts'
import { inTransaction } from '#runtime/postgres.ts'
import { requestLimitOf } from '#schemas/tiers.ts'
import { countCalls } from '../steps/count-calls.ts'
import { decideDispositions, type Disposition } from '../steps/decide-dispositions.ts'
import { makeNewToolEvent } from '../steps/make-new-tool-event.ts'
import type { PlacedCall } from '../steps/place-call.ts'
import { bodyColumns, callColumns, previewColumns, signatureColumns } from './call-columns.ts'
import { ofKeptDays } from './content-days.ts'
import { copyRows } from './copy-rows.ts'
import { noteDefinitions } from './definition-store.ts'
import { findErased } from './erasure-store.ts'
import { noteEphemeral } from './ephemeral-store.ts'
import { insertEvents } from './outbox-store.ts'
import { advancePositions, lockPositions } from './position-store.ts'
import type { RollupStore } from './rollup-store.ts'
import { callMinutes, callRollups, labelRollups, laneOf, toolRollups, userRollups } from './rollup-tables.ts'
import { stageRows } from './stage-rows.ts'
import { asRefusedRecord } from './refused-record.ts'

export interface CallStore {
  /**
   * Stores a partition's calls and its position in one transaction, with their bodies, events of new tools,
   * the counter of the unlimited tier and the roll-ups. Partitions stored at once share a transaction.
   * Throws PermanentError (`UNSTORABLE`) if one call cannot be stored, TransientError if Postgres is away;
   * nothing is stored then.
   */
  store(calls: readonly PlacedCall[], position: Position, kind: CallTopicKind): Promise<StoredCalls>
}

/** `kept`: llm.request.logged. `ephemeral`: the other topic of calls whose bodies must not be kept. */
export type CallTopicKind = 'kept' | 'ephemeral'

/** Counts of a shared transaction are those of its first partition; the others have 0. */
export interface StoredCalls {
  dispositions: Disposition[]
  /** Rows that were not there before. */
  rowCount: number
  /** Events written to the outbox. */
  eventCount: number
  /** Series that the roll-ups had no room for, without users. */
  overflowCount: number
  /** The same of users, of whom a project may have any number. */
  overflowUsers: number
  /** Tools that their projects had no room for: they are not remembered, and raise no event. */
  leftOutTools: number
}

/** One partition's share of a transaction. */
interface CallPart {
  calls: readonly PlacedCall[]
  position: Position
}

/** Calls of one transaction. Beyond this its fixed cost is small. */
const maxCallsTogether = 1_000

export function createCallStore(pool: Pool, rollups: RollupStore): CallStore {
  const together = (kind: CallTopicKind) =>
    createGroupCommit<CallPart, StoredCalls>({
      run: (parts) =>
        inTransaction(pool, (client) => storeCalls(client, rollups, parts, kind)).catch((error: unknown) => {
          throw asRefusedRecord(error)
        }),
      isOfOne: (error) => error instanceof PermanentError,
      weightOf: ({ calls }) => calls.length,
      maxWeight: maxCallsTogether,
    })
  const store = { kept: together('kept'), ephemeral: together('ephemeral') }
  return { store: (calls, position, kind) => store[kind]({ calls, position }) }
}

const noCounts = { rowCount: 0, eventCount: 0, overflowCount: 0, overflowUsers: 0, leftOutTools: 0 }

async function storeCalls(
  client: ClientBase,
  rollups: RollupStore,
  parts: readonly CallPart[],
  kind: CallTopicKind,
): Promise<StoredCalls[]> {
  const positions = parts.map(({ position }) => position)
  const positionsBefore = await lockPositions(client, positions)
  const calls = parts.flatMap((part) => part.calls)
  const erased = await findErased(client, calls)
  const wanted = erased.size === 0 ? calls : calls.filter(({ identity }) => !erased.has(identity))
  const added = await insertCalls(client, wanted)
  const newCalls = firstOfEach(wanted, added)
  const firstTime = kind === 'kept' ? added : await noteEphemeral(client, wanted)
  if (kind === 'kept') {
    await insertBodies(client, newCalls)
    await insertPreviews(client, newCalls)
  }
  const { events, leftOut } = await noteTools(client, newCalls)
  const changes = await noteDefinitions(client, newCalls)
  await insertEvents(client, [...events, ...changes])
  await advancePositions(client, positions)
  // Only who holds the lock of a partition's position writes to its lane.
  const overflow = await addToRollups(client, rollups, newCalls, laneOf(kind, positions[0]?.partition ?? 0))
  await countUnlimited(client, newCalls)
  const counts = {
    rowCount: newCalls.length,
    eventCount: events.length + changes.length,
    ...overflow,
    leftOutTools: leftOut,
  }
  const seen = new Set<string>()
  return parts.map((part, index) => {
    const known = { firstTime, erased, positionBefore: positionsBefore[index] ?? 0n, seen }
    return {
      dispositions: decideDispositions(part.calls, known),
      ...(index === 0 ? counts : noCounts),
    }
  })
}

async function addToRollups(
  client: ClientBase,
  rollups: RollupStore,
  newCalls: readonly PlacedCall[],
  lane: number,
): Promise<Pick<StoredCalls, 'overflowCount' | 'overflowUsers'>> {
  const counts = countCalls(newCalls, await rollups.readLabeller(client))
  const calls = await rollups.add(client, callRollups, lane, counts.calls)
  const labels = await rollups.add(client, labelRollups, lane, counts.labels)
  await rollups.add(client, callMinutes, lane, counts.minutes)
  const overflowUsers = await rollups.add(client, userRollups, lane, counts.users)
  const tools = await rollups.add(client, toolRollups, lane, counts.tools)
  return { overflowCount: calls + labels + tools, overflowUsers }
}

interface IdentityRow {
  project_id: string
  id: string
}

const identitiesOf = (rows: readonly IdentityRow[]) =>
  new Set(rows.map((row) => `${row.project_id}/${row.id}`))

/** Inserts the calls that are not there yet and returns their identities. */
async function insertCalls(client: ClientBase, calls: readonly PlacedCall[]): Promise<Set<string>> {
  if (calls.length === 0) return new Set()
  await stageRows(client, 'staged_calls', callColumns, calls)
  const names = callColumns.map(({ name }) => name).join(', ')
  // In key order: two sinks that store the same calls (from both topics) wait instead of deadlocking.
  const { rows } = await client.query<IdentityRow>(
    `insert into llm_requests (${names}) select ${names} from staged_calls order by project_id, id, place
     on conflict do nothing returning project_id, id`,
  )
  return identitiesOf(rows)
}

/** Of several copies of one call in a batch the first was stored. */
function firstOfEach(calls: readonly PlacedCall[], identities: ReadonlySet<string>): PlacedCall[] {
  const wanted = new Set(identities)
  return calls.filter(({ identity }) => wanted.delete(identity))
}

/**
 * Inserted directly, with search signatures: a new call has no bodies yet. Only projects that keep content
 * get this far, and the flag is checked again, because bodies stay for weeks.
 */
async function insertBodies(client: ClientBase, newCalls: readonly PlacedCall[]): Promise<void> {
  const withBodies = newCalls.filter(
    ({ call }) => !call.zero_content_retention && (call.request_body !== null || call.response_body !== null),
  )
  const table = 'llm_request_bodies'
  const kept = await ofKeptDays(client, table, withBodies, ({ createdAtMs }) => createdAtMs)
  if (kept.length > 0) await copyRows(client, table, bodyColumns, kept)
  const signed = kept.filter(({ call }) => call.search !== null)
  // Retention drops a day's signatures before its bodies.
  const signatures = await ofKeptDays(client, 'search_signatures', signed, ({ createdAtMs }) => createdAtMs)
  if (signatures.length > 0) await copyRows(client, 'search_signatures', signatureColumns, signatures)
}

/** As insertBodies. */
async function insertPreviews(client: ClientBase, newCalls: readonly PlacedCall[]): Promise<void> {
  const withPreview = newCalls.filter(({ call }) => !call.zero_content_retention && call.preview !== null)
  const table = 'request_previews'
  const kept = await ofKeptDays(client, table, withPreview, ({ createdAtMs }) => createdAtMs)
  if (kept.length > 0) await copyRows(client, table, previewColumns, kept)
}

/** Notes tool names. Returns an event for each new to its project, and how many were beyond the bound. */
async function noteTools(client: ClientBase, newCalls: readonly PlacedCall[]) {
  const firstCalls = new Map<string, { placed: PlacedCall; tool: string }>()
  for (const placed of newCalls) {
    const { source, tool_name, tool_names } = placed.call
    // A tool that only an attack called is not known yet: production's first call of it is news.
    if (source === 'redteam') continue
    for (const tool of tool_name === null ? tool_names : [tool_name, ...tool_names]) {
      const key = `${placed.projectUuid}/${tool}`
      const before = firstCalls.get(key)?.placed.createdAtMs ?? Infinity
      if (placed.createdAtMs < before) firstCalls.set(key, { placed, tool })
    }
  }
  if (firstCalls.size === 0) return { events: [], leftOut: 0 }
  const candidates = [...firstCalls.values()]
  const { rows } = await client.query<{ project_id: string; tool_name: string; is_new: boolean }>(
    noteToolsSql,
    [
      candidates.map(({ placed }) => placed.projectUuid),
      candidates.map(({ tool }) => tool),
      candidates.map(({ placed }) => new Date(placed.createdAtMs)),
      maxTools,
    ],
  )
  const unseen = rows.filter(({ is_new }) => is_new)
  const isUnseen = new Set(unseen.map((row) => `${row.project_id}/${row.tool_name}`))
  const events = candidates
    .filter(({ placed, tool }) => isUnseen.has(`${placed.projectUuid}/${tool}`))
    .map(({ placed, tool }) => makeNewToolEvent(placed.call, tool))
  return { events, leftOut: rows.length - unseen.length }
}

/** Of a project. Names that never end (a number in each) would grow the table, and raise events, for ever. */
const maxTools = 10_000

// A project's tools are counted only when a new one comes. Calls come in any order: the earliest counts. Rows
// are in key order, as all sinks lock them. A row that another sink has added meanwhile has an xmax here, and
// is not new.
const noteToolsSql = `
  with given as (
    select c.* from unnest($1::uuid[], $2::text[], $3::timestamptz[]) as c (project_id, tool_name, first_seen_at)
  ), late as (
    select s.project_id, s.tool_name, c.first_seen_at from seen_tools s join given c using (project_id, tool_name)
    where c.first_seen_at < s.first_seen_at order by 1, 2 for update of s
  ), moved as (
    update seen_tools s set first_seen_at = late.first_seen_at from late
    where s.project_id = late.project_id and s.tool_name = late.tool_name and late.first_seen_at < s.first_seen_at
  ), unseen as (
    select c.* from given c
    where exists (select from projects p where p.id = c.project_id)
      and not exists (select from seen_tools s where s.project_id = c.project_id and s.tool_name = c.tool_name)
  ), placed as (
    select u.*, row_number() over (partition by project_id order by tool_name) + known <= $4 as has_room from unseen u join (
      select project_id, (select count(*) from (select from seen_tools s where s.project_id = p.project_id limit $4) counted) as known
      from (select distinct project_id from unseen) p
    ) k using (project_id)
  ), added as (
    insert into seen_tools (project_id, tool_name, first_seen_at) select project_id, tool_name, first_seen_at from placed where has_room
    order by 1, 2 on conflict (project_id, tool_name) do update set first_seen_at = excluded.first_seen_at
      where excluded.first_seen_at < seen_tools.first_seen_at
    returning project_id, tool_name, xmax = 0 as is_new
  )
  select project_id, tool_name, true as is_new from added where is_new
  union all select project_id, tool_name, false from placed where not has_room`

/**
 * Counts the stored rows of the unlimited tier, whose calls ingest does not claim. A claimed one was received
 * while its project had a limit and counts already. (A call counted here, and sent again once its project has
 * a limit, counts twice: docs/decisions/0014.) Last in the transaction and in key order: all sinks of a
 * project wait for this row.
 */
async function countUnlimited(client: ClientBase, newCalls: readonly PlacedCall[]): Promise<void> {
  const counted = newCalls.filter(({ call }) => isUnlimited(call.tier) && call.source !== 'redteam')
  if (counted.length === 0) return
  const projects = [...new Set(counted.map(({ projectUuid }) => projectUuid))].sort()
  await client.query('select roll_period(project, now()) from unnest($1::uuid[]) as counted (project)', [
    projects,
  ])
  // The row is locked by now, so no claim of the project comes or goes.
  await client.query(
    `update subscriptions set requests_this_period = requests_this_period + added from (
       select project, count(*) as added from unnest($1::uuid[], $2::uuid[]) as counted (project, request)
       where not exists (select from quota_claims c where c.project_id = project and c.request_id = request) group by project
     ) counts where project_id = project`,
    [counted.map(({ projectUuid }) => projectUuid), counted.map(({ requestUuid }) => requestUuid)],
  )
}

function isUnlimited(tier: string): boolean {
  return (requestLimitOf as Readonly<Record<string, number | null>>)[tier] === null
}
