import type { RecordHandler } from '#runtime/kafka/records.ts'
import type { Log } from '#runtime/log.ts'
import { deadLetter, drop, type Outcome } from '#runtime/outcome.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { AttemptDelivery } from './attempt-delivery.ts'
import type { Release } from '../limits/wait-queue.ts'
import type { EndpointLimiter } from '../limits/endpoint-limiter.ts'
import { claimLeaseMs, type AttemptEnd, type AttemptProgress } from './make-attempt.ts'
import type { NotifierMetrics } from '../notifier-metrics.ts'
import { checkDelivery } from '../steps/check-record.ts'
import type { WaitingDue, WaitingStore } from '../stores/waiting-store.ts'

export interface DeliveryHandlerDependencies {
  attempt: AttemptDelivery
  limiter: EndpointLimiter
  waiting: WaitingStore
  metrics: NotifierMetrics
  log: Log
}

/** Makes an attempt that has its place at the endpoint; one at a slow receiver goes on without its record. */
export type CarryOut = (
  delivery: WebhookDelivery,
  release: Release,
  make: (delivery: WebhookDelivery, progress: AttemptProgress) => Promise<AttemptEnd>,
) => Promise<Outcome>

/** An attempt at a slow receiver that has begun goes on, and what asked for it is over when this resolves. */
export type LetGoOn = (delivery: WebhookDelivery, going: Promise<AttemptEnd>) => Promise<Outcome>

export interface DeliveryHandler {
  handle: RecordHandler<WebhookDelivery>
  carryOut: CarryOut
  letGoOn: LetGoOn
  /** Resolves once no attempt is being made. */
  drained(): Promise<void>
}

/**
 * Makes the attempt that a record asks for. What cannot be made at once, or takes long, is handed to the database
 * (`webhook_waiting`) and the record is done: one endpoint's trouble must not become another's. An attempt that goes on
 * removes its row at its end; should this process die, the row falls due after the attempt's claim has run out.
 */
export function createDeliveryHandler(dependencies: DeliveryHandlerDependencies): DeliveryHandler {
  const { attempt, limiter, waiting, log } = dependencies
  let attempts = 0
  let onDrained: (() => void) | undefined
  const ended = () => {
    if (--attempts === 0) onDrained?.()
  }
  const setAside = createSetAside(dependencies)
  const conclude = (delivery: WebhookDelivery, end: AttemptEnd): Promise<Outcome> | Outcome =>
    end.kind === 'leased' ? setAside(delivery, 'leased', { atMs: end.untilMs }) : end.outcome
  const letGoOn: LetGoOn = (delivery, going) => {
    limiter.note(delivery.webhook_id, true)
    const aside = setAside(delivery, 'slow', { inMs: claimLeaseMs })
    const removeAtEnd = async () => {
      const end = await going
      await aside
      if (end.kind === 'decided') await waiting.remove(delivery)
    }
    attempts++
    void removeAtEnd()
      .catch((error: unknown) => {
        log.error({ err: error, delivery_id: delivery.delivery_id }, 'an attempt is made again later')
      })
      .finally(ended)
    return aside
  }
  /** An attempt at a slow receiver goes on without its record, so that a consumer never waits for a receiver. */
  const carryOut: CarryOut = async (delivery, release, make) => {
    const first = Promise.withResolvers<AttemptEnd | 'slow'>()
    let isLetGo = false
    const onSlow = () => {
      isLetGo = true
      first.resolve('slow')
    }
    const over = () => {
      release()
      ended()
    }
    attempts++
    const going = make(delivery, { onSlow, onSent: release, isAlone: () => isLetGo })
    void going.then(over, over)
    void going.then(first.resolve, first.reject)
    const end = await first.promise
    return end === 'slow' ? letGoOn(delivery, going) : conclude(delivery, end)
  }
  return {
    carryOut,
    letGoOn,
    async handle({ value: delivery }) {
      const fault = checkDelivery(delivery)
      if (fault !== undefined) return deadLetter(fault)
      const release = await limiter.acquireSoon(delivery)
      if (release !== undefined) return carryOut(delivery, release, attempt)
      limiter.holdBack(delivery)
      return setAside(delivery, 'endpoint_full', { inMs: 0 })
    },
    async drained() {
      if (attempts > 0) await new Promise<void>((resolve) => (onDrained = resolve))
    },
  }
}

function createSetAside({ waiting, metrics }: DeliveryHandlerDependencies) {
  return async (delivery: WebhookDelivery, reason: string, due: WaitingDue): Promise<Outcome> => {
    await waiting.add(delivery, due)
    metrics.waiting.inc({ reason })
    return drop(reason)
  }
}
