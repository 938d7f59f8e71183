import type { FindingState } from '#schemas/event-data.ts'
import { makeFindingEvent } from '#schemas/finding-event.ts'
import { eventOfChange, isClosed, mayChange } from '#schemas/finding.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { callOf, findingColumns, sumsOfFinding, type FindingRow } from './finding-store.ts'
import {
  isSame,
  ofStored,
  standingOf,
  toStored,
  type Standing,
  type StoredStanding,
} from './finding-standing.ts'
import type { OneProject, ProjectDatabase, RunStatement } from './project-database.ts'

/** Absent fields stay. */
export type StandingChange = Partial<Standing>

export interface ChangeBy {
  kind: 'person' | 'key' | 'operator'
  name: string
}

interface ChangeOptions {
  changeId: string
  by: ChangeBy
  nowMs: number
  dashboardUrl: string
}

export const skipReasons = ['not_found', 'state', 'changed_since'] as const
export type SkipReason = (typeof skipReasons)[number]

export interface ChangedFindings {
  /** Those that are now as was asked, also if they were before. */
  done: string[]
  skipped: { id: string; reason: SkipReason; state: FindingState | null }[]
  /** Those whose owner could not be restored. */
  withoutOwner: string[]
}

/** Changes findings with their history, events and audit entries in one transaction. */
export function changeFindings(
  database: ProjectDatabase<OneProject>,
  ids: readonly string[],
  change: StandingChange,
  options: ChangeOptions,
): Promise<ChangedFindings> {
  return database.changeTogether(async (run) => {
    const rows = await lockFindings(run, ids.map(idToUuid))
    return write(
      run,
      ids,
      rows.map((row) => {
        const after = { ...standingOf(row), ...change }
        const refused = mayChange(row.state, after.state) ? undefined : 'state'
        return { row, after, refused, reopens: isClosed(row.state) && !isClosed(after.state) }
      }),
      options,
    )
  }, options.nowMs)
}

/** The owners that findings had before a change. */
export async function ownersBefore(
  database: ProjectDatabase<OneProject>,
  changeId: string,
): Promise<string[]> {
  const rows = await database.query<{ owner_id: string }>(
    `select distinct h.before ->> 'owner_id' as owner_id from finding_changes h
     where :scope(h) and h.change_id = $2 and h.before ->> 'owner_id' is not null`,
    [idToUuid(changeId)],
  )
  return rows.map(({ owner_id }) => idFromUuid('person', owner_id))
}

/**
 * Restores what findings were before a change, unless something changed them since. Of their owners then it
 * restores those in `logins`, which has the login of each who may own them. Undefined: unknown.
 */
export function undoChange(
  database: ProjectDatabase<OneProject>,
  changeId: string,
  logins: ReadonlyMap<string, string>,
  options: ChangeOptions,
): Promise<ChangedFindings | undefined> {
  return database.changeTogether(async (run) => {
    const changes = await run<{ finding_id: string; revision: number; before: StoredStanding }>(
      'select h.finding_id, h.revision, h.before from finding_changes h where :scope(h) and h.change_id = $2',
      [idToUuid(changeId)],
    )
    if (changes.length === 0) return { result: undefined, entries: [] }
    const byFinding = new Map(changes.map((each) => [each.finding_id, each]))
    const rows = await lockFindings(run, [...byFinding.keys()])
    const ids = rows.map(({ id }) => idFromUuid('finding', id))
    const wanted = rows.flatMap((row) => {
      const undone = byFinding.get(row.id)
      if (undone === undefined) return []
      const refused = undone.revision === row.revision ? undefined : 'changed_since'
      // It has been open all the time: its age goes on.
      return [{ row, ...restored(ofStored(undone.before), row, logins), refused, reopens: false } as const]
    })
    return write(run, ids, wanted, options)
  }, options.nowMs)
}

/** The former standing, without an owner who may no longer see the project. The owner of today may stay. */
function restored(
  before: Standing,
  row: FindingRow,
  logins: ReadonlyMap<string, string>,
): Pick<Wanted, 'after' | 'lostOwner'> {
  if (before.owner_id === null || before.owner_id === row.owner_id) return { after: before, lostOwner: null }
  const login = logins.get(idFromUuid('person', before.owner_id))
  if (login !== undefined) return { after: { ...before, owner_login: login }, lostOwner: null }
  return { after: { ...before, owner_id: null, owner_login: null }, lostOwner: before.owner_login ?? '' }
}

/** What becomes of a finding. */
interface Wanted {
  row: FindingRow
  after: Standing
  /** The login of an owner who could not be restored. */
  lostOwner?: string | null
  refused: SkipReason | undefined
  /** Whether its age begins anew. */
  reopens: boolean
}

async function write(
  run: RunStatement,
  ids: readonly string[],
  wanted: readonly Wanted[],
  options: ChangeOptions,
) {
  const changed = wanted.filter(
    ({ row, after, refused }) => refused === undefined && !isSame(standingOf(row), after),
  )
  if (changed.length > 0) {
    await updateFindings(run, changed, options)
    await insertHistory(run, changed, options)
    await insertEvents(run, changed, options)
  }
  const byId = new Map(wanted.map((each) => [idFromUuid('finding', each.row.id), each]))
  const skipped = ids.flatMap((id): ChangedFindings['skipped'] => {
    const found = byId.get(id)
    if (found === undefined) return [{ id, reason: 'not_found', state: null }]
    return found.refused === undefined ? [] : [{ id, reason: found.refused, state: found.row.state }]
  })
  const left = new Set(skipped.map(({ id }) => id))
  return {
    result: {
      done: ids.filter((id) => !left.has(id)),
      skipped,
      withoutOwner: ids.filter((id) => !left.has(id) && byId.get(id)?.lostOwner != null),
    },
    entries: changed.map((each) => ({
      action: 'finding.changed',
      subject: idFromUuid('finding', each.row.id),
      detail: {
        ...{ change_id: options.changeId, before: toStored(standingOf(each.row)), after: storedAfter(each) },
      },
    })),
  }
}

/** In the order of their ids, as sinks lock them. Sinks that only count do not wait. */
async function lockFindings(run: RunStatement, uuids: readonly string[]): Promise<FindingRow[]> {
  await run(
    'select f.id from findings f where :scope(f) and f.id = any ($2::uuid[]) order by f.id for no key update',
    [uuids],
  )
  return run<FindingRow>(
    `select ${findingColumns} from findings f ${sumsOfFinding} where :scope(f) and f.id = any ($2::uuid[]) order by f.id`,
    [uuids],
  )
}

function updateFindings(
  run: RunStatement,
  changed: readonly Wanted[],
  { by, nowMs }: ChangeOptions,
): Promise<unknown> {
  return run(
    `update findings f set state = w.state, muted_until = w.muted_until, owner_id = w.owner_id, owner_login = w.owner_login,
       revision = f.revision + 1, opened_at = case when w.reopens then $8 else f.opened_at end,
       closed_at = case when not w.closed then null when f.state = w.state then f.closed_at else $8 end,
       closed_by = case when not w.closed then null when f.state = w.state then f.closed_by else $9 end
     from unnest($2::uuid[], $3::text[], $4::timestamptz[], $5::uuid[], $6::text[], $7::boolean[], $10::boolean[])
       as w (id, state, muted_until, owner_id, owner_login, reopens, closed)
     where :scope(f) and f.id = w.id`,
    [
      changed.map(({ row }) => row.id),
      changed.map(({ after }) => after.state),
      changed.map(({ after }) => after.muted_until),
      changed.map(({ after }) => after.owner_id),
      changed.map(({ after }) => after.owner_login),
      changed.map(({ reopens }) => reopens),
      new Date(nowMs),
      by.name,
      changed.map(({ after }) => isClosed(after.state)),
    ],
  )
}

function insertHistory(
  run: RunStatement,
  changed: readonly Wanted[],
  { changeId, by, nowMs }: ChangeOptions,
): Promise<unknown> {
  return run(
    `insert into finding_changes (project_id, finding_id, revision, change_id, at, actor_kind, actor_name, before, after)
     select f.project_id, f.id, f.revision, $3, $4, $5, $6, w.before, w.after
     from unnest($2::uuid[], $7::jsonb[], $8::jsonb[]) as w (id, before, after) join findings f on :scope(f) and f.id = w.id`,
    [
      changed.map(({ row }) => row.id),
      idToUuid(changeId),
      new Date(nowMs),
      by.kind,
      by.name,
      changed.map(({ row }) => JSON.stringify(toStored(standingOf(row)))),
      changed.map((each) => JSON.stringify(storedAfter(each))),
    ],
  )
}

async function insertEvents(
  run: RunStatement,
  changed: readonly Wanted[],
  options: ChangeOptions,
): Promise<void> {
  const events = changed.flatMap((each) => eventOf(each, options))
  if (events.length === 0) return
  await run(
    `insert into event_outbox (id, event, project_id, created_at, data)
     select w.id, w.event, p.project_id, $5, w.data from unnest($2::uuid[], $3::text[], $4::bytea[]) as w (id, event, data)
     join subscriptions p on :scope(p)`,
    [
      events.map(({ id }) => idToUuid(id)),
      events.map(({ event }) => event),
      events.map(({ data }) => data),
      new Date(options.nowMs),
    ],
  )
}

function eventOf({ row, after }: Wanted, { by, nowMs, dashboardUrl }: ChangeOptions): RaisedEvent[] {
  const event = eventOfChange(row.state, after.state)
  if (event === null) return []
  const told = {
    ...row,
    finding_id: idFromUuid('finding', row.id),
    project_id: idFromUuid('project', row.project_id),
    request_id: callOf(row.last_request_id),
    ...{ state: after.state, revision: row.revision + 1, count: Number(row.count) },
    ...{ first_seen: row.first_seen_at, last_seen: row.last_seen_at },
  }
  return [
    makeFindingEvent(told, {
      ...{ event, previousState: row.state, changedBy: by.name, atMs: nowMs, dashboardUrl },
    }),
  ]
}

const storedAfter = ({ after, lostOwner }: Wanted): StoredStanding => ({
  ...toStored(after),
  ...(lostOwner != null && { lost_owner: lostOwner }),
})
