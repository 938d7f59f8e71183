import type { Pool } from 'pg'
import { inTransaction, query } from '#runtime/postgres.ts'
import { idFromUuid } from '#schemas/ids.ts'
import type { Tier } from '#schemas/tiers.ts'
import { makeCostAlert } from '../steps/make-cost-alert.ts'
import { insertEvents } from './outbox-store.ts'

/** A project that wants to hear of its costs, and has not in this period. */
export interface CostWatch {
  projectUuid: string
  thresholdUsd: number
  periodStart: Date
}

/** Projects with a cost threshold that were not told yet in their period, in their order. Moves periods on that are over. */
export async function findCostWatches(pool: Pool, now: Date): Promise<CostWatch[]> {
  const { rows } = await query<{ project_id: string; cost_alert_usd: string; period_start: Date }>(
    pool,
    `select p.id as project_id, p.cost_alert_usd, s.period_start
     from projects p join subscriptions old on old.project_id = p.id
       cross join lateral (select (case when old.period_reset_at <= $1 then roll_period(p.id, $1) else old end).*) s
     where p.cost_alert_usd is not null and not s.cost_alerted order by p.id`,
    [now],
  )
  return rows.map((row) => ({
    projectUuid: row.project_id,
    thresholdUsd: Number(row.cost_alert_usd),
    periodStart: row.period_start,
  }))
}

/** US dollars that the project's stored calls have cost since `from`, without the red team's: whole hours from the roll-ups, the rest from the calls. */
export async function sumCosts(pool: Pool, { projectUuid, periodStart }: CostWatch): Promise<number> {
  const hourMs = 3_600_000
  const firstHour = new Date(Math.ceil(periodStart.getTime() / hourMs) * hourMs)
  const { rows } = await query<{ cost: number }>(
    pool,
    `select ((select coalesce(sum(cost_picodollars), 0) from call_rollups where project_id = $1 and hour >= $3 and source is distinct from 'redteam') / 1e12
       + (select coalesce(sum(cost_usd), 0) from llm_requests where project_id = $1 and created_at >= $2 and created_at < $3
         and source is distinct from 'redteam'))::float8 as cost`,
    [projectUuid, periodStart, firstHour],
  )
  return rows[0]?.cost ?? 0
}

/** Raises the alert unless somebody has in this period, or it is over. Resolves to whether it did. */
export function raiseCostAlert(
  pool: Pool,
  watch: CostWatch,
  currentUsd: number,
  now: Date,
): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{
      tier: Tier
      request_limit: string | null
      requests_this_period: string
      period_reset_at: Date
    }>(
      `update subscriptions s set cost_alerted = true from tiers t
       where s.project_id = $1 and s.period_start = $2 and not s.cost_alerted and t.tier = s.tier
       returning s.tier, t.request_limit, s.requests_this_period, s.period_reset_at`,
      [watch.projectUuid, watch.periodStart],
    )
    const [row] = rows
    if (row === undefined) return false
    const alert = makeCostAlert({
      projectId: idFromUuid('project', watch.projectUuid),
      tier: row.tier,
      limit: row.request_limit === null ? null : Number(row.request_limit),
      count: Number(row.requests_this_period),
      periodStart: watch.periodStart,
      periodEnd: row.period_reset_at,
      thresholdUsd: watch.thresholdUsd,
      currentUsd,
      now,
    })
    await insertEvents(client, [alert])
    return true
  })
}
