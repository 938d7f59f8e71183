import { systemClock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { ok } from '#runtime/outcome.ts'
import {
  createBeginTogether,
  type BeginTogetherDependencies,
  type FirstDelivery,
} from '../delivery/begin-together.ts'
import { createEndpointLimiter } from '../limits/endpoint-limiter.ts'
import { claimLeaseMs, decided, type MakeAttempt } from '../delivery/make-attempt.ts'
import { createNotifierMetrics } from '../notifier-metrics.ts'
import { signingKeyOf } from '../steps/sign-delivery.ts'
import type { DeliveryStore, FinishedAttempt } from '../stores/delivery-store.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import { createUnwrittenAttempts } from '../delivery/unwritten-attempts.ts'
import { deliveredAttempt, webhook, webhookDelivery } from './sample-records.ts'

export const keys = { current: signingKeyOf('whsec_c2VjcmV0'), previous: null }
export const message = { body: Buffer.from('{}'), isTest: false }
const nowMs = 1_000
/** Of the claims. */
export const untilMs = nowMs + claimLeaseMs

export function first(given: Partial<Webhook> = {}): FirstDelivery {
  const endpoint = webhook(given)
  return { eventIndex: 0, delivery: webhookDelivery({ webhook_id: endpoint.id }), webhook: endpoint, message }
}

export interface Course extends Partial<Omit<BeginTogetherDependencies, 'deliveries'>> {
  begun?: readonly (boolean | Error)[]
  written?: readonly (null | Error)[]
  /** How the attempts end at once, in their order; undefined: not yet. */
  ends?: readonly (FinishedAttempt | undefined)[]
  make?: MakeAttempt['make']
}

/** Beginning, where everything goes well but for what is given; and what was done. */
export function setOutTogether({ begun, written, ends, make, ...given }: Course = {}) {
  const limiter = createEndpointLimiter({ perEndpoint: 1, total: 64 })
  const unwritten = createUnwrittenAttempts(createNotifierMetrics(createMetrics()), systemClock)
  const sent: string[] = []
  const lands: ((attempt: FinishedAttempt) => void)[] = []
  const finished: unknown[] = []
  const made: unknown[] = []
  const letGo: string[] = []
  const deliveries: Pick<DeliveryStore, 'beginAll' | 'finishAll'> = {
    beginAll: (all) => Promise.resolve(begun ?? all.map(() => true)),
    finishAll(ended) {
      finished.push(...ended)
      return Promise.resolve(written ?? ended.map(() => null))
    },
  }
  const together = createBeginTogether({
    deliveries: deliveries as DeliveryStore,
    openSecrets: () => keys,
    limiter,
    sendMessage(delivery, _webhook, _message, onSent) {
      const end = ends === undefined ? deliveredAttempt : ends[lands.length]
      sent.push(delivery.delivery_id)
      lands.push(onSent)
      if (end !== undefined) onSent(end)
    },
    making: {
      make(claimed, progress) {
        made.push({ ...claimed, isAlone: progress.isAlone?.() ?? false })
        return make?.(claimed, progress) ?? Promise.resolve(decided(ok()))
      },
      failed: () => Promise.reject(new Error('nothing follows here')),
    },
    unwritten,
    letGoOn: (delivery) => {
      letGo.push(delivery.delivery_id)
      return Promise.resolve(ok())
    },
    clock: { ...systemClock, now: () => nowMs },
    log: createLog('test', 'silent'),
    ...given,
  })
  /** Of each delivery that is over, whether it was made. */
  const ended = new Map<string, boolean>()
  const begin = (firsts: readonly FirstDelivery[]) =>
    together.begin(together.place(firsts) ?? [], ({ delivery }, isMade) =>
      ended.set(delivery.delivery_id, isMade),
    )
  return { together, begin, limiter, unwritten, sent, lands, finished, made, letGo, ended }
}

export function idsOf(all: readonly FirstDelivery[]): string[] {
  return all.map(({ delivery }) => delivery.delivery_id)
}
