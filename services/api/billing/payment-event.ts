import { z } from 'zod'
import { isId } from '#schemas/ids.ts'
import { validate } from '#http/validate.ts'

/** The state of a subscription at the provider. */
export interface SubscriptionState {
  subscriptionId: string
  customerId: string
  /** Null: the subscription names none of our projects. */
  projectId: string | null
  /** In the provider's terms: active, trialing, past_due, canceled, … */
  status: string
  prices: readonly string[]
  /** The paid period, and the anchor of its months. Unix milliseconds. */
  periodStartMs: number
  periodEndMs: number
  anchorMs: number
}

/** The position of an event among its subscription's: its time in whole seconds, then `rank`. */
export interface EventOrder {
  id: string
  atMs: number
  rank: number
}

export type PaymentEvent =
  | { kind: 'subscription'; order: EventOrder; state: SubscriptionState }
  | { kind: 'payment_failed'; order: EventOrder; subscriptionId: string }
  | { kind: 'checkout_completed'; projectId: string; customerId: string }
  | { kind: 'other' }

const reference = z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)])
const seconds = z.number().int().min(0)
const period = { current_period_start: seconds.optional(), current_period_end: seconds.optional() }

/** The fields that are used; versions of the provider's API differ in where they put the period. */
const subscriptionSchema = z.object({
  id: z.string(),
  customer: reference,
  status: z.string(),
  billing_cycle_anchor: seconds,
  metadata: z.record(z.string(), z.string()).nullish(),
  items: z.object({
    data: z.array(z.object({ price: z.object({ id: z.string() }), ...period })).min(1),
  }),
  ...period,
})

const invoiceSchema = z.object({
  subscription: reference.nullish(),
  parent: z.object({ subscription_details: z.object({ subscription: reference }).nullish() }).nullish(),
})

const checkoutSchema = z.object({ client_reference_id: z.string().nullish(), customer: reference.nullish() })

const eventSchema = z.object({
  id: z.string(),
  type: z.string(),
  created: seconds,
  data: z.object({ object: z.unknown() }),
})

const ranks: Readonly<Record<string, number>> = {
  'customer.subscription.created': 0,
  'invoice.payment_failed': 1,
  'customer.subscription.updated': 2,
  'customer.subscription.paused': 2,
  'customer.subscription.resumed': 2,
  'customer.subscription.deleted': 3,
}

/** Parses a verified event. Throws 422 when a relevant one has another form. */
export function readPaymentEvent(payload: unknown): PaymentEvent {
  const { id, type, created, data } = validate(eventSchema, payload)
  const order = { id, atMs: created * 1000, rank: ranks[type] ?? 0 }
  if (type === 'checkout.session.completed') return readCheckout(data.object)
  if (!Object.hasOwn(ranks, type)) return { kind: 'other' }
  if (type !== 'invoice.payment_failed')
    return { kind: 'subscription', order, state: readSubscription(data.object) }
  const invoice = validate(invoiceSchema, data.object)
  const subscriptionId = invoice.subscription ?? invoice.parent?.subscription_details?.subscription
  return subscriptionId === undefined ? { kind: 'other' } : { kind: 'payment_failed', order, subscriptionId }
}

/** Parses the provider's subscription. Throws 422 when it has another form. */
export function readSubscription(object: unknown): SubscriptionState {
  const read = validate(subscriptionSchema, object)
  const [item] = read.items.data
  const start = item?.current_period_start ?? read.current_period_start ?? read.billing_cycle_anchor
  const named = read.metadata?.['project_id']
  return {
    subscriptionId: read.id,
    customerId: read.customer,
    projectId: named !== undefined && isId('project', named) ? named : null,
    status: read.status,
    prices: read.items.data.map(({ price }) => price.id),
    periodStartMs: start * 1000,
    periodEndMs: (item?.current_period_end ?? read.current_period_end ?? start) * 1000,
    anchorMs: read.billing_cycle_anchor * 1000,
  }
}

function readCheckout(object: unknown): PaymentEvent {
  const { client_reference_id: projectId, customer } = validate(checkoutSchema, object)
  return typeof projectId === 'string' && isId('project', projectId) && typeof customer === 'string'
    ? { kind: 'checkout_completed', projectId, customerId: customer }
    : { kind: 'other' }
}
