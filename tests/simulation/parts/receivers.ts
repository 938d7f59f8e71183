import type { Webhook } from '#services/notifier/stores/webhook-rows.ts'
import type { AttemptResult, Sender } from '#services/notifier/sending/send-attempt.ts'
import type { World } from '../world/world.ts'

/** One request that a receiver got. */
export interface Receipt {
  deliveryId: string
  isTaken: boolean
}

export interface Receivers {
  sender: Sender
  readonly receipts: readonly Receipt[]
}

const timeoutMs = 10_000

/** Customers' receivers: quick, often failing, slow, or dead. The URL says which. */
export function createReceivers(world: World): Receivers {
  const receipts: Receipt[] = []
  const { random, faults } = world
  const refusing = { quick: 0.05, failing: 0.6, slow: 0.2, dead: 1 }
  const kindOf = (url: string) => new URL(url).hostname.split('.')[0] as keyof typeof refusing
  const durationOf = (url: string) => {
    if (kindOf(url) !== 'slow') return random.between(1, 30)
    return random.chance(0.2) ? timeoutMs : random.between(100, 4_000)
  }
  return {
    receipts,
    sender: {
      send({ url, headers }, onResult) {
        const sender = world.current
        const durationMs = durationOf(url)
        const isTaken = durationMs < timeoutMs && !random.chance(refusing[kindOf(url)])
        const receive = () => {
          receipts.push({ deliveryId: headers['x-service-delivery'] ?? '', isTaken })
          const disposition = faults.dispositionOf('kafka', sender)
          const dies = disposition === 'dies_before' || disposition === 'dies_after'
          if (dies && sender !== null) world.kill(sender, 'while it sends to a receiver')
          world.after(durationMs, () => onResult(resultOf(durationMs, isTaken)), sender)
        }
        world.after(random.between(0.2, 3), receive, sender)
      },
      close: () => Promise.resolve(),
    },
  }
}

function resultOf(durationMs: number, isTaken: boolean): AttemptResult {
  const timedOut = durationMs >= timeoutMs
  if (isTaken) return { statusCode: 200, durationMs, error: null, excerpt: null, timedOut }
  const error = timedOut ? 'no answer within 10 s' : 'the receiver answered 503'
  return { statusCode: timedOut ? null : 503, durationMs, error, excerpt: null, timedOut }
}

/** URL of the receiver that behaves as `kind` says. */
export function urlOf(kind: 'quick' | 'failing' | 'slow' | 'dead'): Webhook['url'] {
  return `https://${kind}.example/hook`
}
