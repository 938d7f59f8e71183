import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { tierSchema } from '#schemas/tiers.ts'
import { idField } from '#http/fields.ts'
import { invalidInput, Problem, unavailable, found } from '#http/problem.ts'
import { rawRoute, route, type Route } from '#http/route.ts'
import { beginCheckout } from '../billing/begin-checkout.ts'
import { readPaymentEvent, type PaymentEvent } from '../billing/payment-event.ts'
import { verifyPaymentEvent, type PaymentProvider } from '../billing/payment-provider.ts'
import type { TierPrices } from '../billing/tier-prices.ts'
import type { Applied, PaymentStore } from '../stores/payment-store.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { findPaymentReferences } from '../stores/subscription-store.ts'

export interface PaymentRoutesOptions {
  databases: ProjectDatabases
  /** Undefined: STRIPE_API_KEY is not set. */
  provider: PaymentProvider | undefined
  prices: TierPrices
  payments: PaymentStore
  /** PAYMENT_WEBHOOK_SECRET. */
  webhookSecret: string | undefined
  clock: Clock
  log: Log
  metrics: Metrics
}

/** Checkout, portal and the payment provider's webhook. */
export function paymentRoutes(options: PaymentRoutesOptions): Route[] {
  return [checkoutRoute(options), portalRoute(options), webhookRoute(options)]
}

const returnAddress = z.url({ protocol: /^https?$/ }).max(2_000)
const ofProject = z.strictObject({ project_id: idField('project').optional() })
const common = { access: 'all', tag: 'Billing', method: 'post' } as const
const providerProblems = {
  502: 'The payment provider refused.',
  503: 'No payment provider is configured, or it does not answer.',
} as const

function checkoutRoute({ databases, provider, prices, clock }: PaymentRoutesOptions): Route {
  return route({
    ...common,
    path: '/api/billing/checkout',
    summary:
      'A page of the payment provider where the project subscribes to a tier or changes to it. An earlier page is closed.',
    body: z.strictObject({
      tier: tierSchema,
      success_url: returnAddress,
      cancel_url: returnAddress,
    }),
    query: ofProject,
    reply: {
      status: 200,
      description: 'The page for the payer.',
      schema: z.object({ id: z.string(), url: z.string().nullable() }),
    },
    problems: {
      ...providerProblems,
      404: 'There is no such project.',
      409: 'The project pays for the tier already, or another checkout was begun at the same moment.',
    },
    async handle({ principal, query, body }) {
      const database = databases.ofOne(principal, query.project_id)
      const references = found(await findPaymentReferences(database), 'project', database.scope.projectId)
      const configured = configuredOr503(provider)
      const price = prices.priceOf(body.tier)
      if (price === undefined)
        throw invalidInput([{ path: 'tier', message: `${body.tier} is not sold here (STRIPE_PRICES)` }])
      const json = await beginCheckout(database, configured, references, {
        price,
        successUrl: body.success_url,
        cancelUrl: body.cancel_url,
        isOfTier: (other) => prices.tierOf(other) === body.tier,
      })
      const detail = { tier: body.tier }
      await database.note({ action: 'billing.checkout_opened', subject: null, detail }, clock.now())
      return { json }
    },
  })
}

function portalRoute({ databases, provider, clock }: PaymentRoutesOptions): Route {
  return route({
    ...common,
    path: '/api/billing/portal',
    summary: "A page of the payment provider where the project's subscription is changed or ended.",
    body: z.strictObject({ return_url: returnAddress }),
    query: ofProject,
    reply: {
      status: 200,
      description: 'The page for the payer.',
      schema: z.object({ url: z.string() }),
    },
    problems: {
      ...providerProblems,
      404: 'There is no such project.',
      409: 'The project has never subscribed: there is nothing to change.',
    },
    async handle({ principal, query, body }) {
      const database = databases.ofOne(principal, query.project_id)
      const { customerId } = found(await findPaymentReferences(database), 'project', database.scope.projectId)
      const configured = configuredOr503(provider)
      if (customerId === null) {
        throw new Problem(
          409,
          'NO_PAYMENT_CUSTOMER',
          'the project has never subscribed: start with a checkout',
        )
      }
      await database.note({ action: 'billing.portal_opened', subject: null }, clock.now())
      return { json: await configured.createPortal(customerId, body.return_url) }
    },
  })
}

function webhookRoute(options: PaymentRoutesOptions): Route {
  const { webhookSecret, clock, log, metrics } = options
  const events = metrics.counter(
    'sluice_payment_events_total',
    'Events of the payment provider by what they did',
    ['outcome'],
  )
  return rawRoute({
    access: 'public',
    tag: 'Billing',
    method: 'post',
    path: '/webhook/payment',
    summary: "Receives the payment provider's signed events; not for other callers.",
    // The provider's configured address may have query parameters.
    query: z.looseObject({}),
    body: z.looseObject({ id: z.string(), type: z.string() }),
    reply: {
      status: 200,
      description: 'Accepted. Repeated, older and foreign events change nothing.',
      schema: z.object({ received: z.literal(true), outcome: z.string() }),
    },
    problems: { 400: 'The signature is missing, stale or wrong.' },
    async handle({ headers, body }) {
      if (webhookSecret === undefined || webhookSecret === '') {
        throw unavailable('PAYMENT_NOT_CONFIGURED', 'PAYMENT_WEBHOOK_SECRET is not set', undefined, 3600)
      }
      const signature = headers['stripe-signature']
      const payload = verifyPaymentEvent(body, String(signature ?? ''), webhookSecret, clock.now())
      const outcome = await apply(options, readPaymentEvent(payload))
      events.inc({ outcome })
      log.info({ event: (payload as { id: string }).id, outcome }, 'a payment event was taken')
      return { json: { received: true, outcome } }
    },
  })
}

async function apply(options: PaymentRoutesOptions, event: PaymentEvent): Promise<Applied> {
  const { payments, provider } = options
  switch (event.kind) {
    case 'other':
      return 'ignored'
    case 'checkout_completed':
      return payments.applyCheckout(event.projectId, event.customerId)
    case 'payment_failed':
      return payments.applyPaymentFailed(event.order, event.subscriptionId)
    case 'subscription': {
      const { order, state } = event
      const applied = await payments.applyState(order, state, false)
      if (applied !== 'ask') return known(applied, state.prices)
      const current = await configuredOr503(provider).findSubscription(state.subscriptionId)
      return known(
        await payments.applyState(order, { ...current, projectId: state.projectId }, true),
        current.prices,
      )
    }
  }
}

/** The provider retries a refused event for days: time to add the price to STRIPE_PRICES. */
function known(applied: Applied, prices: readonly string[]): Applied {
  if (applied !== 'unknown_price') return applied
  throw unavailable(
    'PAYMENT_PRICE_UNKNOWN',
    `STRIPE_PRICES names no tier for ${prices.join(', ')}`,
    undefined,
    3600,
  )
}

function configuredOr503(provider: PaymentProvider | undefined): PaymentProvider {
  if (provider !== undefined) return provider
  throw unavailable(
    'PAYMENT_NOT_CONFIGURED',
    'no payment provider is configured: STRIPE_API_KEY is not set',
    undefined,
    3600,
  )
}
