import { Agent, request } from 'undici'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { joinEvent } from '#schemas/join-event.ts'
import { buildEnvelope } from '#services/notifier/steps/build-envelope.ts'
import { signDelivery, signingKeyOf } from '#services/notifier/steps/sign-delivery.ts'
import { webhookDelivery } from '#services/notifier/testing/sample-records.ts'

export interface BarePost {
  url: string
  headers: Record<string, string>
  body: Buffer
}

/** The same bytes and headers as the notifier sends for the event. */
export function prepareBarePost(url: string, event: RaisedEvent): BarePost {
  const body = buildEnvelope(event, joinEvent(event, { open: ({ data }) => data }))
  const keys = { current: signingKeyOf('whsec_c2VjcmV0'), previous: null }
  return { url, body, headers: signDelivery(webhookDelivery({ event }), body, keys, Date.now()) }
}

/** The floor of deliveries: what is prepared goes out by undici alone, so many at a time. */
export async function postBare(posts: readonly BarePost[], concurrency: number, ca?: string): Promise<void> {
  const agent = new Agent({ pipelining: 1, ...(ca === undefined ? {} : { connect: { ca } }) })
  const left = posts.values()
  const post = async () => {
    for (const { url, ...rest } of left) {
      const answer = await request(url, { dispatcher: agent, method: 'POST', ...rest })
      await answer.body.dump()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, post))
  await agent.close()
}
