import type { BatchHandler } from '#runtime/kafka/records.ts'
import { PermanentError } from '#runtime/errors.ts'
import { deadLetter, ok, type Outcome } from '#runtime/outcome.ts'
import { createTakeTurn, type TakeTurn } from '#runtime/take-turns.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { deliveryId, type WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { DeliveryPublisher } from './delivery-publisher.ts'
import type { NotifierMetrics } from './notifier-metrics.ts'
import { chunkDeliveries, chunkRows } from './steps/chunk-deliveries.ts'
import { checkEvent } from './steps/check-record.ts'
import type { ExpressionCache } from './steps/expression-cache.ts'
import type { JoinEvent } from './steps/open-event.ts'
import { offerEvent, selectWebhooks } from './steps/select-webhooks.ts'
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

/**
 * An event becomes one delivery for each webhook that wants it. Rows first, then the topic: whoever takes a delivery finds its
 * row. Both have identities of their own, so that an event that comes twice makes nothing new. Expressions of a project can take half a second an
 * event (`filter-allowance.ts`), a batch of such events minutes: they take turns with the heartbeat, without which the consumer would be put out
 * of its group, and the events would come back for ever.
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
    const takeTurn = createTakeTurn()
    const store = async () => {
      const due = waiting.flatMap((one) => one.due)
      const failures = waiting.flatMap((one) => one.failures)
      waiting = []
      rows = 0
      for (const chunk of chunkDeliveries(due)) {
        await deliveries.insert(chunk)
        await publisher.publish(chunk.map((delivery) => ({ topic: 'deliveryDue', delivery })))
      }
      await webhooks.noteExpressionFailures(failures)
    }
    for (const [index, { value }] of records.entries()) {
      const fault = faults[index]
      const fanned =
        fault === undefined
          ? await fanOut(value, byProject.get(value.project_id) ?? [], takeTurn, dependencies)
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

async function fanOut(
  event: RaisedEvent,
  webhooks: readonly Webhook[],
  takeTurn: TakeTurn,
  dependencies: FanOutDependencies,
): Promise<FannedOut> {
  if (webhooks.length === 0) return nothingBut(ok())
  try {
    const offered = offerEvent(event, dependencies.joinEvent(event))
    const decided = await selectWebhooks(webhooks, offered, dependencies.expressions, takeTurn, () =>
      performance.now(),
    )
    for (const { selection } of decided) dependencies.metrics.selections.inc({ selection })
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
