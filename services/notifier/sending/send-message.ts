import type { Clock } from '#runtime/clock.ts'
import type { Span, Tracing } from '#runtime/tracing/tracing.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { EndpointLimiter } from '../limits/endpoint-limiter.ts'
import type { NotifierMetrics } from '../notifier-metrics.ts'
import type { EventTraces } from '../event-traces.ts'
import type { SendToDestination } from '../destinations/send-to-destination.ts'
import { failed, type AttemptResult, type Sender } from './send-attempt.ts'
import type { Message } from '../steps/open-message.ts'
import { isLastAttempt } from '../steps/plan-next.ts'
import { signDelivery } from '../steps/sign-delivery.ts'
import type { FinishedAttempt } from '../stores/delivery-store.ts'
import type { Webhook } from '../stores/webhook-rows.ts'

export interface SendingDependencies {
  sender: Sender
  limiter: EndpointLimiter
  metrics: NotifierMetrics
  clock: Clock
  sendToDestination: SendToDestination
  tracing?: Tracing | undefined
  eventTraces?: EventTraces | undefined
}

/** Signs and sends. Calls `onSent` with the result, before returning if nothing is sent. */
export type SendMessage = (
  delivery: WebhookDelivery,
  webhook: Webhook,
  message: Message,
  onSent: (attempt: FinishedAttempt) => void,
) => void

/** An endpoint that takes this long is slow (endpoint-limiter.ts). */
const slowMs = 1_000

export function createSendMessage(dependencies: SendingDependencies): SendMessage {
  const { sender, limiter, metrics, clock, sendToDestination } = dependencies
  const note = (delivery: WebhookDelivery, result: AttemptResult, finishedAtMs: number) => {
    limiter.note(delivery.webhook_id, result.durationMs >= slowMs)
    metrics.attempts.inc({ result: resultLabel(result) })
    metrics.attemptSeconds.observe(result.durationMs / 1_000)
    if (result.error === null && delivery.attempt === 1) {
      metrics.eventToReceipt.observe(Math.max(0, finishedAtMs - delivery.event.created_at) / 1_000)
    }
  }
  return (delivery, webhook, { body, keys, isTest, data }, onSent) => {
    const isWanted = webhook.enabled || isTest
    const span = isWanted ? startDelivery(delivery, dependencies) : undefined
    const onResult = (result: AttemptResult & { retryAfterMs?: number | null }) => {
      const finishedAtMs = clock.now()
      note(delivery, result, finishedAtMs)
      span?.set({ 'http.response.status_code': result.statusCode ?? undefined })
      span?.end(result.error === null ? undefined : resultLabel(result))
      const { timedOut: _timedOut, ...ended } = result
      const isLast = !isWanted || isLastAttempt(delivery, webhook.kind)
      onSent({ finishedAtMs, ...ended, isLast, wasSent: isWanted })
    }
    if (!isWanted) {
      onResult(failed(disabledBecause(webhook.disabledReason), 0))
      return
    }
    if (data !== undefined) {
      void sendToDestination(delivery, webhook, data).then(onResult)
      return
    }
    const headers = signDelivery(delivery, body, keys, clock.now())
    const isQuick = limiter.kindOf(webhook.id) === 'quick'
    sender.send({ url: webhook.url, headers, body, isQuick }, onResult)
  }
}

/** The span of an attempt. Its context is not sent: specification 3.3 fixes the headers of a delivery. */
function startDelivery(
  delivery: WebhookDelivery,
  { tracing, eventTraces }: SendingDependencies,
): Span | undefined {
  return tracing?.start('deliver event', 'client', [eventTraces?.get(delivery.event)], {
    'sluice.event_id': delivery.event.id,
    'sluice.project_id': delivery.project_id,
    'sluice.webhook_id': delivery.webhook_id,
    'sluice.delivery_id': delivery.delivery_id,
    'sluice.attempt': delivery.attempt,
  })
}

export function disabledBecause(reason: string | null): string {
  return `the webhook is disabled${reason === null ? '' : `: ${reason}`}`
}

function resultLabel(result: AttemptResult): string {
  if (result.error === null) return 'delivered'
  if (result.timedOut) return 'timed_out'
  return result.statusCode === null ? 'no_answer' : 'refused'
}
