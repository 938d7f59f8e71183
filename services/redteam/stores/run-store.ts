import type { Pool } from 'pg'
import { inTransaction, query } from '#runtime/postgres.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import {
  redteamOptionsSchema,
  redteamTargetSchema,
  type RedteamOptions,
  type RedteamStatus,
  type RedteamTarget,
} from '#schemas/redteam-run.ts'
import { makeCompleteEvent, type RunCounts } from '../steps/make-complete-event.ts'

/** A run of this process. */
export interface RedteamRun {
  id: string
  projectId: string
  agentName: string
  target: RedteamTarget
  options: RedteamOptions
  seed: string
  budgetUsd: number | null
  runner: 'worker' | 'cli'
  status: RedteamStatus
  probesDigest: string | null
  startedAtMs: number
}

interface RunRow {
  id: string
  project_id: string
  agent_name: string
  target: unknown
  options: unknown
  seed: string
  budget_usd: number | null
  runner: RedteamRun['runner']
  status: RedteamStatus
  probes_digest: string | null
  started_at: Date
}

export interface RunStore {
  /** The oldest open run that no process holds, or the named one; undefined: none. */
  claim(runId: string | undefined): Promise<RedteamRun | undefined>
  /** Renews the lease. Resolves to the status; undefined: another process has the run. */
  renew(runId: string): Promise<RedteamStatus | undefined>
  /** Lets another process take it at once. */
  release(runId: string): Promise<void>
  notePlan(runId: string, digest: string, count: number): Promise<void>
  /** Whether the run has ended or never existed. */
  isOver(runId: string): Promise<boolean>
  /** Whether the run is still held and not over. */
  startScoring(runId: string, stoppedBy: 'budget' | 'no_price' | undefined): Promise<boolean>
  fail(runId: string, problem: string): Promise<void>
  /** Why the run stands still, until it is claimed again. */
  noteProblem(runId: string, problem: string): Promise<void>
  /**
   * Ends the run with its counts and `redteam_complete`, in one transaction; false when it was over already.
   */
  finish(run: RedteamRun, dashboardUrl: string): Promise<boolean>
}

/** `leaseMs`: how long a silent process keeps a run. After a kill -9, another one takes it then. */
export function createRunStore(pool: Pool, holder: string, leaseMs: number): RunStore {
  const run: Run = async (text, values) => (await query(pool, text, values)).rowCount === 1
  // After its lease expired on a slow machine, one process must not carry a run out twice, with a budget
  // each.
  const carried = new Set<string>()
  return {
    async claim(runId) {
      const { rows } = await query<RunRow>(pool, claimSql, [
        holder,
        runId === undefined ? null : idToUuid(runId),
        leaseMs,
        [...carried],
      ])
      const [row] = rows
      if (row === undefined) return undefined
      carried.add(row.id)
      return runOf(row)
    },
    async renew(runId) {
      const { rows } = await query<{ status: RedteamStatus }>(
        pool,
        `update redteam_runs set lease_until = now() + make_interval(secs => $3::float8 / 1000) where id = $1 and holder = $2 returning status`,
        [idToUuid(runId), holder, leaseMs],
      )
      return rows[0]?.status
    },
    async release(runId) {
      carried.delete(idToUuid(runId))
      await run(releaseSql, [idToUuid(runId), holder])
    },
    async notePlan(runId, digest, count) {
      await run('update redteam_runs set probes_digest = $2, planned_count = $3 where id = $1', [
        idToUuid(runId),
        digest,
        count,
      ])
    },
    async isOver(runId) {
      const { rows } = await query<{ status: RedteamStatus }>(
        pool,
        `select status from redteam_runs where id = $1 and status in ('queued', 'running', 'scoring')`,
        [idToUuid(runId)],
      )
      return rows.length === 0
    },
    startScoring: (runId, stoppedBy) =>
      run(
        `update redteam_runs set status = 'scoring', stopped_by = coalesce(stopped_by, $3)
         where id = $1 and holder = $2 and status in ('running', 'scoring')`,
        [idToUuid(runId), holder, stoppedBy ?? null],
      ),
    ...problemPart(run, holder),
    finish: (carried, dashboardUrl) => finishRun(pool, holder, carried, dashboardUrl),
  }
}

type Run = (text: string, values: readonly unknown[]) => Promise<boolean>

const maxProblemUnits = 2_000

function problemPart(run: Run, holder: string): Pick<RunStore, 'fail' | 'noteProblem'> {
  return {
    async fail(runId, problem) {
      await run(
        `update redteam_runs set status = 'failed', problem = $3, finished_at = now(), holder = null, lease_until = null
         where id = $1 and holder = $2 and status in ('queued', 'running', 'scoring')`,
        [idToUuid(runId), holder, problem.slice(0, maxProblemUnits)],
      )
    },
    async noteProblem(runId, problem) {
      await run('update redteam_runs set problem = $3 where id = $1 and holder = $2', [
        idToUuid(runId),
        holder,
        problem.slice(0, maxProblemUnits),
      ])
    },
  }
}

const releaseSql = 'update redteam_runs set holder = null, lease_until = null where id = $1 and holder = $2'
const claimSql = `
  update redteam_runs set holder = $1, problem = null, lease_until = now() + make_interval(secs => $3::float8 / 1000), started_at = coalesce(started_at, now()),
    status = case when status = 'queued' then 'running' else status end
  where id = (
    select id from redteam_runs where status in ('queued', 'running', 'scoring') and (lease_until is null or lease_until < now())
      and id <> all ($4::uuid[])
      and case when $2::uuid is null then runner = 'worker' else id = $2 end
    order by created_at limit 1 for update skip locked)
  returning *`

async function finishRun(
  pool: Pool,
  holder: string,
  run: RedteamRun,
  dashboardUrl: string,
): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<RunCounts & { finished_at: Date }>(
      `update redteam_runs r set status = 'done', finished_at = now(), holder = null, lease_until = null,
         total_probes = c.total, pass_count = c.passed, fail_count = c.failed, unscored_count = c.unscored, critical_count = c.critical, cost_usd = c.cost
       from (select count(*) as total, count(*) filter (where verdict = 'pass') as passed, count(*) filter (where verdict = 'fail') as failed,
           count(*) filter (where verdict = 'unscored') as unscored,
           count(*) filter (where verdict = 'fail' and severity = 'critical') as critical, sum(cost_usd) as cost
         from redteam_attempts where run_id = $1 and state = 'judged') c
       where r.id = $1 and r.holder = $2 and r.status = 'scoring'
       returning r.total_probes, r.pass_count, r.fail_count, r.critical_count, r.finished_at`,
      [idToUuid(run.id), holder],
    )
    const [counts] = rows
    if (counts === undefined) return false
    const event = makeCompleteEvent(run, counts, counts.finished_at.getTime(), dashboardUrl)
    await client.query(
      `insert into event_outbox (id, event, project_id, created_at, data) values ($1, $2, $3, $4, $5) on conflict do nothing`,
      [idToUuid(event.id), event.event, idToUuid(event.project_id), new Date(event.created_at), event.data],
    )
    return true
  })
}

function runOf(row: RunRow): RedteamRun {
  return {
    id: idFromUuid('run', row.id),
    projectId: idFromUuid('project', row.project_id),
    agentName: row.agent_name,
    target: redteamTargetSchema.parse(row.target),
    options: redteamOptionsSchema.parse(row.options),
    seed: row.seed,
    budgetUsd: row.budget_usd,
    runner: row.runner,
    status: row.status,
    probesDigest: row.probes_digest,
    startedAtMs: row.started_at.getTime(),
  }
}
