import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '#runtime/postgres.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import type { Tier } from '#schemas/tiers.ts'
import { announceAccessChange } from '#http/access/access-changes.ts'
import {
  decideByAnswer,
  decideSubscription,
  isMadeOverdue,
  type Decision,
  type StoredSubscription,
} from '../billing/decide-subscription.ts'
import type { EventOrder, SubscriptionState } from '../billing/payment-event.ts'

/** The outcome of an event; `unknown_project`: it concerns none of ours. */
export type Applied = 'changed' | 'ignored' | 'ask' | 'unknown_price' | 'unknown_project'

/** Subscriptions of any project, changed by the payment provider's events. */
export interface PaymentStore {
  /** `isCurrent`: the state was requested, so it beats an event of the same second. */
  applyState(order: EventOrder, state: SubscriptionState, isCurrent: boolean): Promise<Applied>
  applyPaymentFailed(order: EventOrder, subscriptionId: string): Promise<Applied>
  /** Stores the customer of a checkout, so that the portal works before the subscription's first event. */
  applyCheckout(projectId: string, customerId: string): Promise<Applied>
}

interface Row {
  project_id: string
  tier: Tier
  status: string
  payment_subscription_id: string | null
  payment_event_id: string | null
  payment_event_at: Date | null
  payment_event_rank: number | null
  period_start: Date
  period_reset_at: Date
}

const locked = 'select * from subscriptions where'

export function createPaymentStore(pool: Pool, tierOf: (price: string) => Tier | undefined): PaymentStore {
  return {
    applyState: (order, state, isCurrent) =>
      inTransaction(pool, async (client) => {
        const row = await findRow(client, state.projectId, state.subscriptionId)
        if (row === undefined) return 'unknown_project'
        const stored = storedOf(row)
        const decide = isCurrent ? decideByAnswer : decideSubscription
        return applyDecision(client, row, order, state, decide(stored, order, state, tierOf))
      }),
    applyPaymentFailed: (order, subscriptionId) =>
      inTransaction(pool, async (client) => {
        const row = await findRow(client, null, subscriptionId)
        if (row === undefined) return 'unknown_project'
        if (!isMadeOverdue(storedOf(row), order)) return 'ignored'
        await client.query(`update subscriptions set status = 'past_due' where project_id = $1`, [
          row.project_id,
        ])
        return 'changed'
      }),
    applyCheckout: (projectId, customerId) =>
      inTransaction(pool, async (client) => {
        const { rowCount } = await client.query(
          'update subscriptions set payment_customer_id = $2 where project_id = $1 and payment_subscription_id is null',
          [idToUuid(projectId), customerId],
        )
        return rowCount === 1 ? 'changed' : 'ignored'
      }),
  }
}

async function findRow(
  client: PoolClient,
  projectId: string | null,
  subscriptionId: string,
): Promise<Row | undefined> {
  if (projectId !== null) {
    const named = await client.query<Row>(`${locked} project_id = $1 for update`, [idToUuid(projectId)])
    return named.rows[0]
  }
  const known = await client.query<Row>(`${locked} payment_subscription_id = $1 for update`, [subscriptionId])
  return known.rows[0]
}

async function applyDecision(
  client: PoolClient,
  row: Row,
  order: EventOrder,
  state: SubscriptionState,
  decision: Decision,
): Promise<Applied> {
  if (decision.kind !== 'change') return decision.kind === 'ignore' ? 'ignored' : decision.kind
  const { tier, status, period } = decision.change
  await client.query(
    // A new tier has a new limit, which gets its own alert (project-store.ts).
    `update subscriptions set tier = $2, status = $3, payment_customer_id = $4, payment_subscription_id = $5,
       quota_alerted = quota_alerted and tier = $2, warning_alerted = warning_alerted and tier = $2, ${orderColumns(6)}
     where project_id = $1`,
    [row.project_id, tier, status, state.customerId, state.subscriptionId, ...orderValues(order)],
  )
  if (period !== null) await movePeriod(client, row.project_id, state, period)
  await announceAccessChange(client, idFromUuid('project', row.project_id))
  return 'changed'
}

async function movePeriod(
  client: PoolClient,
  projectUuid: string,
  { anchorMs }: SubscriptionState,
  { startMs, resetAtMs, isRenewal }: { startMs: number; resetAtMs: number; isRenewal: boolean },
): Promise<void> {
  await client.query(
    `update subscriptions set period_anchor = $2, period_start = $3, period_reset_at = $4,
       requests_this_period = case when $5 then 0 else requests_this_period end,
       quota_alerted = quota_alerted and not $5, warning_alerted = warning_alerted and not $5, cost_alerted = cost_alerted and not $5
     where project_id = $1`,
    [projectUuid, new Date(anchorMs), new Date(startMs), new Date(resetAtMs), isRenewal],
  )
}

const orderColumns = (first: number) =>
  `payment_event_id = $${first}, payment_event_at = $${first + 1}, payment_event_rank = $${first + 2}`
const orderValues = ({ id, atMs, rank }: EventOrder) => [id, new Date(atMs), rank]

function storedOf(row: Row): StoredSubscription {
  const { payment_event_id: id, payment_event_at: at, payment_event_rank: rank } = row
  return {
    tier: row.tier,
    status: row.status,
    subscriptionId: row.payment_subscription_id,
    order: id === null || at === null || rank === null ? null : { id, atMs: at.getTime(), rank },
    periodStartMs: row.period_start.getTime(),
    periodResetAtMs: row.period_reset_at.getTime(),
  }
}
