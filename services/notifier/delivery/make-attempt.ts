import type { Clock } from '#runtime/clock.ts'
import { PermanentError, TransientError } from '#runtime/errors.ts'
import { ok, type Outcome } from '#runtime/outcome.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { DeliveryPublisher } from './delivery-publisher.ts'
import type { NotifierMetrics } from '../notifier-metrics.ts'
import { disabledBecause, type SendMessage } from '../sending/send-message.ts'
import type { Message } from '../steps/open-message.ts'
import { planNext, type FailedAttempt } from '../steps/plan-next.ts'
import type { DeliveryStore, FinishedAttempt } from '../stores/delivery-store.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import type { WebhookStore } from '../stores/webhook-store.ts'
import { attemptName, type UnwrittenAttempts } from './unwritten-attempts.ts'

export interface MakingDependencies {
  webhooks: WebhookStore
  deliveries: DeliveryStore
  publisher: DeliveryPublisher
  sendMessage: SendMessage
  unwritten: UnwrittenAttempts
  metrics: NotifierMetrics
  clock: Clock
}

/** `leased`: somebody else has the attempt until then (Unix milliseconds), unless they died. */
export type AttemptEnd = { kind: 'decided'; outcome: Outcome } | { kind: 'leased'; untilMs: number }

export interface AttemptProgress {
  /** The receiver takes its time. */
  onSlow?: () => void
  /** The request is over, or there was none; what follows is between us and Postgres. */
  onSent?: () => void
  /** Whether no record asks for the attempt (any more), so that the runtime neither tries it again nor sets it aside. Absent: one does. */
  isAlone?: () => boolean
}

/** An attempt that is ours to make until then (Unix milliseconds). */
export interface ClaimedAttempt {
  delivery: WebhookDelivery
  webhook: Webhook
  /** What it sends, why that cannot be, or how it ended when it was sent before and not written. */
  what: Message | PermanentError | FinishedAttempt
  untilMs: number
}

export interface MakeAttempt {
  /** Sends what is claimed, writes how it ended and publishes what follows. */
  make(claimed: ClaimedAttempt, progress: AttemptProgress): Promise<AttemptEnd>
  /** Publishes what follows a failure. */
  failed(delivery: WebhookDelivery, attempt: FailedAttempt): Promise<void>
}

/** Specification 3.3: a receiver answers within 10 s. */
export const receiverTimeoutMs = 10_000
/** Longer than any attempt takes, with what is written after it. */
export const claimLeaseMs = 15_000
/**
 * A receiver that takes longer is not waited for any more. Counted from the sending: what Postgres and this process take is no
 * receiver's doing, and setting deliveries aside for it makes more work when there is too much already.
 */
export const patienceMs = 250
/** Between two tries to write how an attempt ended. */
const writeAgainMs = 1_000

export function createMakeAttempt(dependencies: MakingDependencies): MakeAttempt {
  const { deliveries, publisher, unwritten, metrics, clock } = dependencies
  const failed: MakeAttempt['failed'] = async (delivery, attempt) => {
    await publisher.publish([planNext(delivery, attempt)])
    if (attempt.isLast) metrics.dead.inc()
  }
  const finish = async (
    delivery: WebhookDelivery,
    webhook: Webhook,
    sent: FinishedAttempt,
  ): Promise<AttemptEnd> => {
    const attempt = await noteHealth(webhook, sent, dependencies)
    await deliveries.finish(delivery, attempt)
    const { error, finishedAtMs, isLast } = attempt
    if (error !== null) await failed(delivery, { failedAtMs: finishedAtMs, error, isLast })
    return decided(ok())
  }
  return {
    failed,
    async make({ delivery, webhook, what, untilMs }, { onSlow, onSent, isAlone = recordAsks }) {
      const name = attemptName(delivery)
      const attempt =
        // Another try at this attempt may have ended while this one asked.
        unwritten.find(name) ?? (await sendPatiently(delivery, webhook, what, dependencies, onSlow))
      onSent?.()
      unwritten.add(name, attempt)
      const end = await insist(() => finish(delivery, webhook, attempt), { isAlone, untilMs, clock })
      unwritten.remove(name)
      return end
    },
  }
}

export function decided(outcome: Outcome): AttemptEnd {
  return { kind: 'decided', outcome }
}

export function recordAsks(): boolean {
  return false
}

/** Tries again what is transient while nobody else does, until the claim is over: from then on another notifier may send it anyway. */
async function insist<T>(
  write: () => Promise<T>,
  { isAlone, untilMs, clock }: { isAlone: () => boolean; untilMs: number; clock: Clock },
): Promise<T> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof TransientError) || !isAlone() || clock.now() >= untilMs) throw error
      await clock.sleep(writeAgainMs)
    }
  }
}

async function sendPatiently(
  delivery: WebhookDelivery,
  webhook: Webhook,
  what: ClaimedAttempt['what'],
  { sendMessage, clock }: MakingDependencies,
  onSlow: (() => void) | undefined,
): Promise<FinishedAttempt> {
  if ('finishedAtMs' in what) return what
  if (what instanceof PermanentError) return refusedAttempt(what, clock.now())
  let isOver = false
  // An answer that has come and was not read yet is read before the immediate: a busy process does not blame receivers.
  const judge = () => setImmediate(() => (isOver ? undefined : onSlow?.()))
  const timer = onSlow === undefined ? undefined : setTimeout(judge, patienceMs)
  try {
    return await new Promise((resolve) => sendMessage(delivery, webhook, what, resolve))
  } finally {
    isOver = true
    clearTimeout(timer)
  }
}

function refusedAttempt({ message }: PermanentError, finishedAtMs: number): FinishedAttempt {
  const error = `cannot be sent: ${message}`
  return { finishedAtMs, statusCode: null, durationMs: 0, error, excerpt: null, isLast: true, wasSent: false }
}

/** Whether receivers are reached is kept with the webhook; one that is disabled for it says so in the delivery log. */
async function noteHealth(
  webhook: Webhook,
  attempt: FinishedAttempt,
  { webhooks, metrics }: MakingDependencies,
): Promise<FinishedAttempt> {
  if (attempt.error === null && webhook.isFailing) await webhooks.noteDelivered(webhook.id)
  if (attempt.error === null || !attempt.isLast || !attempt.wasSent) return attempt
  const { reason, isNew } = await webhooks.noteFailure(webhook.id)
  if (isNew) metrics.disabled.inc()
  return reason === null ? attempt : { ...attempt, error: `${attempt.error}; ${disabledBecause(reason)}` }
}
