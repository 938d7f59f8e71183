import { idFromUuid } from '#schemas/ids.ts'
import type { Tier } from '#schemas/tiers.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

export interface Subscription {
  project_id: string
  tier: Tier
  /** Requests a period; null: unlimited. */
  limit: number | null
  requests_this_period: number
  period_start: string
  period_reset_at: string
  status: string
}

interface SubscriptionRow {
  project_id: string
  tier: Tier
  request_limit: string | null
  requests_this_period: string
  period_start: Date
  period_reset_at: Date
  status: string
}

/** The project's ids at the payment provider. */
export interface PaymentReferences {
  customerId: string | null
  /** The latest one known, even if it ended. */
  subscriptionId: string | null
  /** The latest checkout page, even if it was paid or expired. */
  checkoutId: string | null
}

/** Undefined: unknown project. */
export async function findPaymentReferences(
  database: ProjectDatabase<OneProject>,
): Promise<PaymentReferences | undefined> {
  const rows = await database.query<PaymentReferences>(
    `select s.payment_customer_id as "customerId", s.payment_subscription_id as "subscriptionId",
       s.payment_checkout_id as "checkoutId"
     from subscriptions s where :scope(s)`,
  )
  return rows[0]
}

/** Stores the project's checkout page. False when another than `before` was stored meanwhile. */
export async function noteCheckout(
  database: ProjectDatabase<OneProject>,
  { before, checkoutId }: { before: string | null; checkoutId: string },
): Promise<boolean> {
  const rows = await database.query(
    `update subscriptions s set payment_checkout_id = $3
     where :scope(s) and s.payment_checkout_id is not distinct from $2 returning 1`,
    [before, checkoutId],
  )
  return rows.length === 1
}

const columns = `s.project_id, s.tier, s.requests_this_period, s.period_start, s.period_reset_at, s.status,
  (select request_limit from tiers where tiers.tier = s.tier) as request_limit`

/** The project's tier and usage at `nowMs`. Undefined: unknown project. */
export async function findSubscription(
  database: ProjectDatabase<OneProject>,
  nowMs: number,
): Promise<Subscription | undefined> {
  const now = new Date(nowMs)
  const current = await database.query<SubscriptionRow>(
    `select ${columns} from subscriptions s where :scope(s) and s.period_reset_at > $2`,
    [now],
  )
  if (current[0] !== undefined) return present(current[0])
  // The period has ended without a call since: it is advanced, so that the current one is read.
  const rolled = await database.query<SubscriptionRow>(
    `select ${columns} from subscriptions p cross join lateral roll_period(p.project_id, $2) s where :scope(p)`,
    [now],
  )
  return rolled[0] === undefined ? undefined : present(rolled[0])
}

function present(row: SubscriptionRow): Subscription {
  return {
    project_id: idFromUuid('project', row.project_id),
    tier: row.tier,
    limit: row.request_limit === null ? null : Number(row.request_limit),
    requests_this_period: Number(row.requests_this_period),
    period_start: row.period_start.toISOString(),
    period_reset_at: row.period_reset_at.toISOString(),
    status: row.status,
  }
}
