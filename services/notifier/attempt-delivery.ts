import type { Clock } from '#runtime/clock.ts'
import { drop, ok, type Outcome } from '#runtime/outcome.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { sealedIdentity, type SealedBytes } from '#schemas/sealed-bytes.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { DeliveryPublisher } from './delivery-publisher.ts'
import type { EndpointSlots } from './endpoint-slots.ts'
import type { NotifierMetrics } from './notifier-metrics.ts'
import type { AttemptResult, Sender } from './sending/send-attempt.ts'
import { buildEnvelope } from './steps/build-envelope.ts'
import type { JoinedData } from './steps/join-event-data.ts'
import type { JoinEvent } from './steps/open-event.ts'
import { isLastAttempt, planNext, type FailedAttempt } from './steps/plan-next.ts'
import { signDelivery, type SigningSecrets } from './steps/sign-delivery.ts'
import type { DeliveryStore, FinishedAttempt } from './stores/delivery-store.ts'
import type { Webhook, WebhookStore } from './stores/webhook-store.ts'

export interface AttemptDependencies {
  webhooks: WebhookStore
  deliveries: DeliveryStore
  publisher: DeliveryPublisher
  sender: Sender
  sealer: Sealer
  joinEvent: JoinEvent
  slots: EndpointSlots
  metrics: NotifierMetrics
  clock: Clock
}

/** `leased`: somebody else has the attempt until then (Unix milliseconds), unless they died. */
export type AttemptEnd = { kind: 'decided'; outcome: Outcome } | { kind: 'leased'; untilMs: number }

/** Makes one attempt, writes how it ended and publishes what follows; the same again when it is told twice. */
export type AttemptDelivery = (delivery: WebhookDelivery) => Promise<AttemptEnd>

/** Longer than any attempt takes, with what is written after it. */
export const claimLeaseMs = 15_000
/** An endpoint that takes this long is a slow one (endpoint-slots.ts). */
const slowMs = 1_000

export function createAttemptDelivery(dependencies: AttemptDependencies): AttemptDelivery {
  const { webhooks, deliveries, publisher, metrics } = dependencies
  // Sent, but not written down because Postgres is away: when the runtime tries again it must not be sent again.
  const unwritten = new Map<string, FinishedAttempt>()

  const failed = async (delivery: WebhookDelivery, attempt: FailedAttempt) => {
    await publisher.publish([planNext(delivery, attempt)])
    if (attempt.isLast) metrics.dead.inc()
  }
  const finish = async (delivery: WebhookDelivery, attempt: FinishedAttempt): Promise<AttemptEnd> => {
    await deliveries.finish(delivery, attempt)
    const { error, finishedAtMs, isLast } = attempt
    if (error !== null) await failed(delivery, { failedAtMs: finishedAtMs, error, isLast })
    return decided(ok())
  }
  return async (delivery) => {
    const name = `${delivery.delivery_id}/${delivery.attempt}`
    const sent = unwritten.get(name)
    const webhook = await webhooks.find(delivery.project_id, delivery.webhook_id)
    if (webhook === undefined) {
      unwritten.delete(name)
      return decided(drop('webhook_gone'))
    }
    const message = sent === undefined ? openMessage(delivery, webhook, dependencies) : undefined
    if (message !== undefined) {
      const claim = await deliveries.claim(delivery)
      if (claim.kind === 'gone') return decided(drop('webhook_gone'))
      if (claim.kind === 'superseded') return decided(drop('already_made'))
      if (claim.kind === 'leased') return claim
      if (claim.kind === 'failed_before') {
        await failed(delivery, claim)
        return decided(ok())
      }
    }
    const attempt = sent ?? (await sendMessage(delivery, webhook, message as Message, dependencies))
    unwritten.set(name, attempt)
    const end = await finish(delivery, attempt)
    unwritten.delete(name)
    return end
  }
}

function decided(outcome: Outcome): AttemptEnd {
  return { kind: 'decided', outcome }
}

interface Message {
  body: Buffer
  secrets: SigningSecrets
  isTest: boolean
}

/** Everything that can fail for good comes before the claim, so that no attempt is left open by it. */
function openMessage(
  delivery: WebhookDelivery,
  webhook: Webhook,
  { sealer, joinEvent }: AttemptDependencies,
): Message {
  const data: JoinedData = joinEvent(delivery.event)
  const identity = sealedIdentity(webhook.projectId, webhook.id, 'webhook_secret')
  const open = (secret: SealedBytes) => sealer.open(secret, identity).toString('utf8')
  return {
    body: buildEnvelope(delivery.event, data),
    secrets: {
      current: open(webhook.secret),
      previous: webhook.previousSecret === null ? null : open(webhook.previousSecret),
    },
    isTest: data.fields['test'] === true,
  }
}

async function sendMessage(
  delivery: WebhookDelivery,
  webhook: Webhook,
  { body, secrets, isTest }: Message,
  { sender, slots, metrics, clock }: AttemptDependencies,
): Promise<FinishedAttempt> {
  const isWanted = webhook.enabled || isTest
  const headers = signDelivery(delivery, body, secrets, clock.now())
  const result = isWanted ? await sender.send(webhook.url, headers, body) : disabledResult
  const finishedAtMs = clock.now()
  slots.note(webhook.id, result.durationMs >= slowMs)
  metrics.attempts.inc({ result: resultLabel(result) })
  metrics.attemptSeconds.observe(result.durationMs / 1_000)
  if (result.error === null && delivery.attempt === 1) {
    metrics.eventToReceipt.observe(Math.max(0, finishedAtMs - delivery.event.created_at) / 1_000)
  }
  const { statusCode, durationMs, error, excerpt } = result
  return {
    finishedAtMs,
    statusCode,
    durationMs,
    error,
    excerpt,
    isLast: !isWanted || isLastAttempt(delivery),
  }
}

const disabledResult: AttemptResult = {
  statusCode: null,
  durationMs: 0,
  error: 'the webhook is disabled',
  excerpt: null,
  timedOut: false,
}

function resultLabel(result: AttemptResult): string {
  if (result.error === null) return 'delivered'
  if (result.timedOut) return 'timed_out'
  return result.statusCode === null ? 'no_answer' : 'refused'
}
