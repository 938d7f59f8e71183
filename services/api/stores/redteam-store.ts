import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import type { RedteamOptions, RedteamStatus, RedteamTarget } from '#schemas/redteam-run.ts'
import type { Principal } from '#http/access/principal.ts'
import { found } from '#http/problem.ts'
import type { Counted, Paging } from '../http/paging.ts'
import { Conditions } from './conditions.ts'
import { listRows } from './list-rows.ts'
import {
  isProject,
  type OneProject,
  type ProjectDatabase,
  type ProjectDatabases,
} from './project-database.ts'

/** An operator's order. */
export interface RedteamOrder {
  agent_name: string
  target: RedteamTarget
  options: RedteamOptions
  seed: string
  budget_usd: number | null
  runner: 'worker' | 'cli'
}

export interface RedteamRun extends RedteamOrder {
  id: string
  project_id: string
  status: RedteamStatus
  stopped_by: 'budget' | 'no_price' | null
  problem: string | null
  planned_count: number | null
  sent_count: number
  total_probes: number
  pass_count: number
  fail_count: number
  unscored_count: number
  critical_count: number
  cost_usd: number | null
  created_at: string
  started_at: string | null
  finished_at: string | null
  duration_seconds: number | null
}

type RunRow = Omit<
  RedteamRun,
  'created_at' | 'started_at' | 'finished_at' | 'sent_count' | 'duration_seconds'
> & {
  sent_count: number | null
  created_at: Date
  started_at: Date | null
  finished_at: Date | null
}

const ownColumns = [
  ...[
    'id',
    'project_id',
    'agent_name',
    'target',
    'options',
    'seed',
    'budget_usd',
    'runner',
    'status',
    'stopped_by',
  ],
  ...['problem', 'planned_count', 'created_at', 'started_at', 'finished_at'],
]
const countNames = [
  'total_probes',
  'pass_count',
  'fail_count',
  'unscored_count',
  'critical_count',
  'cost_usd',
]

/** The columns of the run `owner`: final counts once it is over, otherwise counted from the attempts. */
const columnsOf = (owner: string) =>
  [
    ...ownColumns.map((name) => `${owner}.${name}`),
    ...countNames.map((name) => `coalesce(${owner}.${name}, c.${name}) as ${name}`),
    'c.sent_count',
  ].join(', ')

const countsOf = (owner: string) => `left join lateral (
  select count(*) filter (where state in ('recorded', 'judged'))::integer as sent_count, count(*) filter (where state = 'judged')::integer as total_probes,
    count(*) filter (where verdict = 'pass')::integer as pass_count, count(*) filter (where verdict = 'fail')::integer as fail_count,
    count(*) filter (where verdict = 'unscored')::integer as unscored_count,
    count(*) filter (where verdict = 'fail' and severity = 'critical')::integer as critical_count, sum(cost_usd) as cost_usd
  from redteam_attempts a where a.run_id = ${owner}.id and a.project_id = ${owner}.project_id and ${owner}.total_probes is null) c on true`

/** Limits per project: open runs, and runs that are kept. */
const [maxOpen, maxKept] = [100, 1_000]

/**
 * Orders a run. Undefined: unknown project; null: too many open runs. Deletes the oldest finished runs, even
 * when it refuses.
 */
export async function insertRedteamRun(
  database: ProjectDatabase<OneProject>,
  id: string,
  order: RedteamOrder,
  nowMs: number,
): Promise<RedteamRun | null | undefined> {
  await database.query(
    `delete from redteam_runs r where :scope(r) and r.status in ('done', 'cancelled', 'failed') and r.id in (
       select o.id from redteam_runs o where :scope(o) order by o.created_at desc offset $2)`,
    [maxKept - 1],
  )
  const inserted = await database.change(
    `insert into redteam_runs (id, project_id, agent_name, target, options, seed, budget_usd, runner, status, created_at)
     select $2, p.project_id, $3, $4, $5, $6, $7, $8, 'queued', $9 from subscriptions p
     where :scope(p) and (select count(*) from redteam_runs r where :scope(r) and r.status in ('queued', 'running', 'scoring')) < ${maxOpen} returning id`,
    [
      idToUuid(id),
      order.agent_name,
      JSON.stringify(order.target),
      JSON.stringify(order.options),
      order.seed,
      order.budget_usd,
      order.runner,
      new Date(nowMs),
    ],
    { action: 'redteam_run.ordered', subject: id, detail: orderDetail(order) },
    nowMs,
    true,
  )
  if (inserted.length === 0) return (await isProject(database)) ? null : undefined
  return findRedteamRun(database, id)
}

export async function findRedteamRun(database: ProjectDatabase, id: string): Promise<RedteamRun | undefined> {
  const rows = await database.query<RunRow>(
    `select ${columnsOf('r')} from redteam_runs r ${countsOf('r')} where :scope(r) and r.id = $2`,
    [idToUuid(id)],
  )
  return rows.map(runOf)[0]
}

/** The latest finished run of the same agent that was ordered before. */
export async function findRunBefore(
  database: ProjectDatabase,
  { id, agent_name }: Pick<RedteamRun, 'id' | 'agent_name'>,
): Promise<string | undefined> {
  const rows = await database.query<{ id: string }>(
    `select r.id from redteam_runs r where :scope(r) and r.agent_name = $3 and r.status = 'done'
       and (r.created_at, r.id) < (select o.created_at, o.id from redteam_runs o where :scope(o) and o.id = $2)
     order by r.created_at desc, r.id desc limit 1`,
    [idToUuid(id), agent_name],
  )
  return rows.map((row) => idFromUuid('run', row.id))[0]
}

/** Newest first. */
export async function listRedteamRuns(
  database: ProjectDatabase,
  filters: { status: RedteamStatus | undefined; agent_name: string | undefined },
  paging: Paging,
): Promise<{ items: RedteamRun[]; counted: Counted }> {
  const conditions = new Conditions()
  conditions.equal('r.status', filters.status)
  conditions.equal('r.agent_name', filters.agent_name)
  const { rows, counted } = await listRows<RunRow>(database, paging, {
    columns: 'r.*',
    from: 'redteam_runs r',
    alias: 'r',
    timeColumn: 'r.created_at',
    idColumn: 'r.id',
    conditions,
    joined: { columns: columnsOf('page'), joins: () => countsOf('page'), time: 'created_at', id: 'id' },
  })
  return { items: rows.map(runOf), counted }
}

/** Ends an open run without its event; false when it is over. Its runner notices within seconds. */
export async function cancelRedteamRun(
  database: ProjectDatabase<OneProject>,
  id: string,
  nowMs: number,
): Promise<boolean> {
  const rows = await database.change(
    `update redteam_runs r set status = 'cancelled', finished_at = now(), holder = null, lease_until = null
     where :scope(r) and r.id = $2 and r.status in ('queued', 'running', 'scoring') returning r.id`,
    [idToUuid(id)],
    { action: 'redteam_run.cancel', subject: id },
    nowMs,
  )
  return rows.length === 1
}

function runOf(row: RunRow): RedteamRun {
  const { started_at, finished_at } = row
  return {
    ...row,
    id: idFromUuid('run', row.id),
    project_id: idFromUuid('project', row.project_id),
    target: withoutSecrets(row.target),
    sent_count: row.sent_count === null || row.status === 'done' ? row.total_probes : row.sent_count,
    created_at: row.created_at.toISOString(),
    started_at: started_at?.toISOString() ?? null,
    finished_at: finished_at?.toISOString() ?? null,
    duration_seconds:
      started_at === null || finished_at === null
        ? null
        : Math.max(0, Math.round((finished_at.getTime() - started_at.getTime()) / 1_000)),
  }
}

function orderDetail({ agent_name, target, budget_usd, runner }: RedteamOrder) {
  return { agent_name, target: target.kind, url: 'url' in target ? target.url : null, budget_usd, runner }
}

/** Header values may be credentials: only their names are shown. */
function withoutSecrets(target: RedteamTarget): RedteamTarget {
  if (target.kind !== 'http') return target
  return { ...target, headers: Object.fromEntries(Object.keys(target.headers).map((name) => [name, '•••'])) }
}

/** The run, in any of the caller's projects: `report_url` does not name its project. Throws 404. */
export async function findRun(
  databases: ProjectDatabases,
  principal: Principal,
  requested: string | undefined,
  id: string,
): Promise<RedteamRun> {
  return found(await findRedteamRun(databases.ofAny(principal, requested), id), 'run', id)
}
