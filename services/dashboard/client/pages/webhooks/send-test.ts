import { callApi, rowsIn, type Item } from '../../api/call-api.ts'

type Delivery = Item<'GET /api/v1/webhooks/{id}/deliveries'>

/** A receiver has 10 s to answer. */
const [maxTries, pauseMs] = [40, 500]

/** The delivery's log entry once attempted; undefined: none within 20 s. */
async function outcomeOf(
  webhook: { params: { id: string }; query: { project_id: string } },
  deliveryId: string,
): Promise<Delivery | undefined> {
  for (let tries = 0; tries < maxTries; tries++) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    const { params, query } = webhook
    const log = await callApi('GET /api/v1/webhooks/{id}/deliveries', {
      params,
      query: { ...query, page_size: '100' },
    })
    const found = rowsIn<'GET /api/v1/webhooks/{id}/deliveries'>(log).find(({ id }) => id === deliveryId)
    if (found !== undefined && found.status !== 'pending') return found
  }
  return undefined
}

/** Waits for the result of a test and returns a message. Rejects with the receiver's answer if it failed. */
export async function describeOutcome(
  webhook: Parameters<typeof outcomeOf>[0],
  deliveryId: string,
): Promise<string> {
  const delivery = await outcomeOf(webhook, deliveryId)
  if (delivery === undefined) return 'No answer yet; see the delivery log.'
  const last = delivery.attempts.at(-1)
  const answer = last?.status_code == null ? (last?.error ?? 'no answer') : `status ${last.status_code}`
  if (delivery.status === 'delivered') return `Delivered: the receiver answered with ${answer}.`
  const next = delivery.status === 'retrying' ? ' It will be tried again.' : ''
  throw new Error(`The test event was not delivered: ${answer}.${next}`)
}
