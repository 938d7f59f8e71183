import Stripe from 'stripe'
import type { RunningApi } from './start-api.ts'

/** Start of the paid period: this month, and less than a month ago whenever this runs. */
export const startSecond = Math.floor(Date.now() / 1_000)
export const endSecond = startSecond + 20 * 86_400
let serial = 0

/** A subscription as the payment provider sends it, for the project in its metadata. */
export const subscription = (
  projectId: string,
  given: Record<string, unknown> = {},
  price = 'price_pro',
) => ({
  object: 'subscription',
  id: `sub_${projectId}`,
  customer: `cus_${projectId}`,
  status: 'active',
  billing_cycle_anchor: startSecond,
  metadata: { project_id: projectId },
  items: {
    data: [
      {
        id: `si_${projectId}`,
        price: { id: price },
        current_period_start: startSecond,
        current_period_end: endSecond,
      },
    ],
  },
  ...given,
})

export const event = (type: string, created: number, object: unknown, id = `evt_${++serial}`) => ({
  id,
  object: 'event',
  type,
  created,
  data: { object },
})

/** Unix seconds, as the provider counts. */
export const nowS = () => Math.floor(Date.now() / 1000)

export interface SigningOptions {
  signedWith?: string
  /** Unix seconds. */
  at?: number
  /** Changed after signing. */
  tampered?: boolean
}

export function postPaymentEvent(api: RunningApi, secret: string, payload: unknown, given: SigningOptions) {
  const { signedWith = secret, at = nowS(), tampered = false } = given
  const body = JSON.stringify(payload)
  const signature = Stripe.webhooks.generateTestHeaderString({
    payload: body,
    secret: signedWith,
    timestamp: at,
  })
  return api.call('POST', '/webhook/payment', {
    headers: { 'stripe-signature': signature },
    body: tampered ? body.replace('active', 'trialing') : body,
  })
}
