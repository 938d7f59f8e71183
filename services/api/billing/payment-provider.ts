import Stripe from 'stripe'
import { Problem, unavailable } from '#http/problem.ts'
import { isRunning } from './decide-subscription.ts'
import { readSubscription, type SubscriptionState } from './payment-event.ts'

export interface CheckoutInput {
  projectId: string
  price: string
  /** The provider's customer, if the project has one. */
  customerId: string | null
  successUrl: string
  cancelUrl: string
}

export interface PriceChangeInput extends Omit<CheckoutInput, 'customerId'> {
  customerId: string
  /** The project's among those of the customer that name no project. */
  subscriptionId: string | null
  /** Whether a price belongs to the requested tier, including prices no longer sold. */
  isOfTier: (price: string) => boolean
}

/** Requests to the payment provider. Rejects with 502 when it refuses, 503 when it does not answer. */
export interface PaymentProvider {
  createCheckout(input: CheckoutInput): Promise<{ id: string; url: string | null }>
  /** Closes a checkout. Resolves to the customer who paid it already; null: it was not paid and cannot be. */
  closeCheckout(checkoutId: string): Promise<{ customerId: string | null } | null>
  /**
   * The page where the customer confirms the new price of a running subscription: a second one would be paid
   * beside it. Rejects with 409 when it has a price of the tier already. Null: no subscription is running at
   * the provider.
   */
  createPriceChange(input: PriceChangeInput): Promise<{ id: string; url: string } | null>
  createPortal(customerId: string, returnUrl: string): Promise<{ url: string }>
  findSubscription(subscriptionId: string): Promise<SubscriptionState>
}

/** Stripe, or a server with its API at `baseUrl`. */
export function createPaymentProvider(options: {
  apiKey: string
  baseUrl: string | undefined
}): PaymentProvider {
  const stripe = new Stripe(options.apiKey, {
    ...addressOf(options.baseUrl),
    // In total shorter than clients wait. A retried POST has the same idempotency key.
    timeout: 10_000,
    maxNetworkRetries: 1,
    telemetry: false,
  })
  return {
    createCheckout: async (input) => {
      const { id, url } = await asProblems(() => openCheckout(stripe, input))
      return { id, url }
    },
    closeCheckout: (checkoutId) => asProblems(() => closeCheckout(stripe, checkoutId)),
    createPriceChange: (input) => asProblems(() => openPriceChange(stripe, input)),
    async createPortal(customerId, returnUrl) {
      const { url } = await asProblems(() =>
        stripe.billingPortal.sessions.create({ customer: customerId, return_url: returnUrl }),
      )
      return { url }
    },
    findSubscription: async (subscriptionId) =>
      readSubscription(await asProblems(() => stripe.subscriptions.retrieve(subscriptionId))),
  }
}

async function openCheckout(stripe: Stripe, input: CheckoutInput): Promise<Stripe.Checkout.Session> {
  const { projectId, price, customerId, successUrl, cancelUrl } = input
  try {
    return await stripe.checkout.sessions.create({
      mode: 'subscription',
      line_items: [{ price, quantity: 1 }],
      client_reference_id: projectId,
      subscription_data: { metadata: { project_id: projectId } },
      success_url: successUrl,
      cancel_url: cancelUrl,
      ...(customerId === null ? {} : { customer: customerId }),
    })
  } catch (error) {
    // A customer deleted at the provider could never subscribe again: the payer becomes a new one.
    if (customerId === null || !isCustomerMissing(error)) throw error
    return openCheckout(stripe, { ...input, customerId: null })
  }
}

async function closeCheckout(
  stripe: Stripe,
  checkoutId: string,
): Promise<{ customerId: string | null } | null> {
  try {
    await stripe.checkout.sessions.expire(checkoutId)
    return null
  } catch (error) {
    if (isMissing(error)) return null
    // A checkout that is paid or expired cannot be closed.
    if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error
    const { status, customer } = await stripe.checkout.sessions.retrieve(checkoutId)
    if (status === 'open') throw error
    return status === 'complete' ? { customerId: typeof customer === 'string' ? customer : null } : null
  }
}

async function openPriceChange(
  stripe: Stripe,
  input: PriceChangeInput,
): Promise<{ id: string; url: string } | null> {
  const { projectId, customerId, subscriptionId, price, isOfTier, successUrl, cancelUrl } = input
  const { data } = await stripe.subscriptions
    .list({ customer: customerId, limit: 100 })
    .catch((error: unknown) => {
      if (isCustomerMissing(error)) return { data: [] }
      throw error
    })
  const running = data.find(
    ({ id, status, metadata }) =>
      isRunning(status) && (id === subscriptionId || metadata['project_id'] === projectId),
  )
  if (running === undefined) return null
  if (running.items.data.some((item) => isOfTier(item.price.id)))
    throw new Problem(409, 'SUBSCRIPTION_EXISTS', 'the project pays for this tier already')
  const { id, url } = await stripe.billingPortal.sessions.create({
    customer: customerId,
    return_url: cancelUrl,
    flow_data: {
      type: 'subscription_update_confirm',
      subscription_update_confirm: {
        subscription: running.id,
        items: running.items.data.slice(0, 1).map((item) => ({ id: item.id, price })),
      },
      after_completion: { type: 'redirect', redirect: { return_url: successUrl } },
    },
  })
  return { id, url }
}

function isMissing(error: unknown): error is Stripe.errors.StripeError {
  return error instanceof Stripe.errors.StripeError && error.code === 'resource_missing'
}

function isCustomerMissing(error: unknown): boolean {
  return isMissing(error) && error.param === 'customer'
}

/** The event, if the provider signed it within the last five minutes. Throws 400 otherwise. */
export function verifyPaymentEvent(body: Buffer, signature: string, secret: string, nowMs: number): unknown {
  const toleranceS = 300
  try {
    return Stripe.webhooks.constructEvent(body, signature, secret, toleranceS, undefined, nowMs)
  } catch (error) {
    throw new Problem(
      400,
      'PAYMENT_SIGNATURE_INVALID',
      "Stripe-Signature: is missing, stale or not the payment provider's",
      { cause: error },
    )
  }
}

function addressOf(baseUrl: string | undefined): {
  host?: string
  port?: number
  protocol?: 'http' | 'https'
} {
  if (baseUrl === undefined) return {}
  const url = new URL(baseUrl)
  const protocol = url.protocol === 'http:' ? 'http' : 'https'
  return { host: url.hostname, port: Number(url.port || (protocol === 'http' ? 80 : 443)), protocol }
}

async function asProblems<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error
    const isAway =
      error instanceof Stripe.errors.StripeConnectionError ||
      error instanceof Stripe.errors.StripeRateLimitError ||
      (error.statusCode ?? 0) >= 500
    if (isAway)
      throw unavailable('PAYMENT_UNAVAILABLE', 'the payment provider does not answer at the moment', error)
    throw new Problem(502, 'PAYMENT_REFUSED', `the payment provider refused: ${error.message}`, {
      cause: error,
    })
  }
}
