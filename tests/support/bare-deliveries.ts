import { Agent, request } from 'undici'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { joinEvent } from '#schemas/join-event.ts'
import { buildEnvelope } from '#services/notifier/steps/open-message.ts'
import { signDelivery, signingKeyOf } from '#services/notifier/steps/sign-delivery.ts'
import { webhookDelivery } from '#services/notifier/testing/sample-records.ts'

export interface BarePost {
  url: string
  headers: Record<string, string>
  body: Buffer
}

/** The request that the notifier would send for the event, byte for byte. */
export function prepareBarePost(url: string, event: RaisedEvent): BarePost {
  const body = buildEnvelope(event, joinEvent(event, { open: ({ data }) => data }))
  const keys = { current: signingKeyOf('whsec_c2VjcmV0'), previous: null }
  return { url, body, headers: signDelivery(webhookDelivery({ event }), body, keys, Date.now()) }
}

/** Lower bound for a delivery: prepared requests sent by undici alone, `concurrency` at a time. */
export interface BareSender {
  post(posts: readonly BarePost[], concurrency: number): Promise<void>
  close(): Promise<void>
}

/**
 * Connections stay open between calls of `post`. `ca`: the receiver's certificate; undefined for plain HTTP.
 */
export function createBareSender(ca?: string): BareSender {
  const agent = new Agent({ pipelining: 1, ...(ca === undefined ? {} : { connect: { ca } }) })
  return {
    async post(posts, concurrency) {
      const left = posts.values()
      const postNext = async () => {
        for (const { url, ...rest } of left) {
          const answer = await request(url, { dispatcher: agent, method: 'POST', ...rest })
          await answer.body.dump()
        }
      }
      await Promise.all(Array.from({ length: concurrency }, postNext))
    },
    close: () => agent.close(),
  }
}
