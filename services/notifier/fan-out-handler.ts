import type { BatchHandler } from '#runtime/kafka/records.ts'
import { PermanentError } from '#runtime/errors.ts'
import { deadLetter, ok, type Outcome } from '#runtime/outcome.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { deliveryId, type WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { DeliveryPublisher } from './delivery-publisher.ts'
import type { NotifierMetrics } from './notifier-metrics.ts'
import { checkEvent } from './steps/check-record.ts'
import type { ExpressionCache } from './steps/expression-cache.ts'
import type { JoinEvent } from './steps/open-event.ts'
import { selectWebhook } from './steps/select-webhooks.ts'
import type { DeliveryStore } from './stores/delivery-store.ts'
import type { Webhook } from './stores/webhook-rows.ts'
import type { ExpressionFailure, WebhookStore } from './stores/webhook-store.ts'

export interface FanOutDependencies {
  webhooks: WebhookStore
  deliveries: DeliveryStore
  publisher: DeliveryPublisher
  joinEvent: JoinEvent
  expressions: ExpressionCache
  metrics: NotifierMetrics
}

/** Of one statement and of what is held at a time: 500 events for a thousand webhooks each are half a million deliveries. */
const chunkRows = 1_000

/**
 * An event becomes one delivery for each webhook that wants it. Rows first, then the topic: whoever takes a delivery finds its
 * row. Both have identities of their own, so that an event that comes twice makes nothing new.
 */
export function createFanOutHandler(dependencies: FanOutDependencies): BatchHandler<RaisedEvent> {
  const { webhooks, deliveries, publisher } = dependencies
  return async ({ records }) => {
    const faults = records.map(({ value }) => checkEvent(value))
    const projectIds = records
      .filter((_record, index) => faults[index] === undefined)
      .map(({ value }) => value.project_id)
    const known = await webhooks.ofProjects(projectIds)
    const byProject = Map.groupBy(known, ({ projectId }) => projectId)
    const outcomes: Outcome[] = []
    let waiting: FannedOut[] = []
    let rows = 0
    const store = async () => {
      const due = waiting.flatMap((one) => one.due)
      const failures = waiting.flatMap((one) => one.failures)
      waiting = []
      rows = 0
      for (let start = 0; start < due.length; start += chunkRows) {
        const chunk = due.slice(start, start + chunkRows)
        await deliveries.insert(chunk)
        await publisher.publish(chunk.map((delivery) => ({ topic: 'deliveryDue', delivery })))
      }
      await webhooks.noteExpressionFailures(failures)
    }
    for (const [index, { value }] of records.entries()) {
      const fault = faults[index]
      const fanned =
        fault === undefined
          ? fanOut(value, byProject.get(value.project_id) ?? [], dependencies)
          : nothingBut(deadLetter(fault))
      waiting.push(fanned)
      rows += fanned.due.length + fanned.failures.length
      outcomes.push(fanned.outcome)
      if (rows >= chunkRows) await store()
    }
    await store()
    return outcomes
  }
}

interface FannedOut {
  failures: readonly ExpressionFailure[]
  due: readonly WebhookDelivery[]
  outcome: Outcome
}

function nothingBut(outcome: Outcome): FannedOut {
  return { due: [], failures: [], outcome }
}

function fanOut(
  event: RaisedEvent,
  webhooks: readonly Webhook[],
  dependencies: FanOutDependencies,
): FannedOut {
  if (webhooks.length === 0) return nothingBut(ok())
  try {
    const data = dependencies.joinEvent(event)
    const decided = webhooks.map((webhook) => {
      const decision = selectWebhook(webhook, event, data, dependencies.expressions)
      dependencies.metrics.selections.inc({ selection: decision.selection })
      return { webhook, ...decision }
    })
    return {
      due: decided
        .filter(({ selection }) => selection === 'selected')
        .map(({ webhook }) => firstAttempt(event, webhook.id)),
      failures: decided.flatMap(({ webhook, failure }) => (failure === null ? [] : [{ webhook, failure }])),
      outcome: ok(),
    }
  } catch (error) {
    if (error instanceof PermanentError) return nothingBut(deadLetter(error))
    throw error
  }
}

function firstAttempt(event: RaisedEvent, webhookId: string): WebhookDelivery {
  return {
    delivery_id: deliveryId(event, webhookId),
    webhook_id: webhookId,
    project_id: event.project_id,
    attempt: 1,
    first_attempt: 1,
    due_at: event.created_at,
    event,
    last_error: null,
  }
}
