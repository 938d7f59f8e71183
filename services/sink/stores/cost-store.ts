import type { Pool } from 'pg'
import { inTransaction, query } from '#runtime/postgres.ts'
import { idFromUuid } from '#schemas/ids.ts'
import type { Tier } from '#schemas/tiers.ts'
import { makeCostAlert } from '../steps/make-cost-alert.ts'
import { insertEvents } from './outbox-store.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** A project that wants to hear of its costs, and has not in this period. */
export interface CostWatch {
  projectUuid: string
  thresholdUsd: number
  periodStart: Date
}

/**
 * Projects with a cost threshold and no alert in their period, in order. Advances periods that have ended.
 */
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

/**
 * Cost of the project's stored calls in the period, in US dollars, without the red team's: whole days and
 * hours from the roll-ups (docs/decisions/0006), the rest from the calls.
 */
export async function sumCosts(pool: Pool, { projectUuid, periodStart }: CostWatch): Promise<number> {
  const firstHour = new Date(Math.ceil(periodStart.getTime() / hourMs) * hourMs)
  const firstDay = new Date(Math.ceil(firstHour.getTime() / dayMs) * dayMs)
  const { rows } = await query<{ cost: number }>(pool, costSql, [
    projectUuid,
    periodStart,
    firstHour,
    firstDay,
  ])
  return rows[0]?.cost ?? 0
}

const counted = `(select counted_until from days)`
const picodollars = (table: string, within: string) =>
  `(select coalesce(sum(cost_picodollars), 0) from ${table} where project_id = $1 and ${within} and source is distinct from 'redteam')`

// Days that are counted, what has come of their hours since, and the hours before and behind them.
const costSql = `
  with days as (select greatest($4, counted_until) as counted_until from rollup_days where name = 'call_rollups')
  select ((
    ${picodollars('call_rollups_by_day', `hour >= $4 and hour < ${counted}`)}
    + ${picodollars('call_rollups', `hour >= $4 and hour < ${counted} and lane >= 0`)}
    + ${picodollars('call_rollups', `hour >= $3 and hour < $4`)}
    + ${picodollars('call_rollups', `hour >= ${counted}`)}
  ) / 1e12 + (
    select coalesce(sum(cost_usd), 0) from llm_requests
    where project_id = $1 and created_at >= $2 and created_at < $3 and source is distinct from 'redteam'
  ))::float8 as cost`

/**
 * Raises the alert unless the period has one or is over, or the threshold has changed. Returns whether it
 * did.
 */
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
      `update subscriptions s set cost_alerted = true from tiers t, projects p
       where s.project_id = $1 and s.period_start = $2 and not s.cost_alerted and t.tier = s.tier
         and p.id = s.project_id and p.cost_alert_usd::float8 = $3
       returning s.tier, t.request_limit, s.requests_this_period, s.period_reset_at`,
      [watch.projectUuid, watch.periodStart, watch.thresholdUsd],
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
