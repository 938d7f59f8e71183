import { PermanentError } from '#runtime/errors.ts'
import type { RecordHandler } from '#runtime/kafka/records.ts'
import { deadLetter, ok } from '#runtime/outcome.ts'
import { createTakeTurn } from '#runtime/take-turns.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { deliveryId, type WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { BeginDelivery } from './begin-delivery.ts'
import type { DeliveryPublisher } from './delivery-publisher.ts'
import type { EndpointLimiter } from '../limits/endpoint-limiter.ts'
import type { NotifierMetrics } from '../notifier-metrics.ts'
import { createPartitionTurns } from '../limits/partition-turns.ts'
import { buildEnvelope } from '../steps/build-envelope.ts'
import { chunkDeliveries, chunkRows } from '../steps/chunk-deliveries.ts'
import { checkEvent } from '../steps/check-record.ts'
import type { ExpressionCache } from '../steps/expression-cache.ts'
import type { JoinEvent } from '../steps/open-event.ts'
import { isTestEvent } from '../steps/open-message.ts'
import { offerEvent, selectWebhooks, type Decision, type OfferedEvent } from '../steps/select-webhooks.ts'
import type { DeliveryStore } from '../stores/delivery-store.ts'
import { createBatcher } from '../stores/batcher.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import type { ExpressionFailure, WebhookStore } from '../stores/webhook-store.ts'

export interface FanOutDependencies {
  webhooks: WebhookStore
  deliveries: DeliveryStore
  publisher: DeliveryPublisher
  begin: BeginDelivery
  limiter: EndpointLimiter
  joinEvent: JoinEvent
  expressions: ExpressionCache
  metrics: NotifierMetrics
}

/** Events with more take turns: 256 of them for a project's 1,000 webhooks at once took 770 MB, and others' deliveries waited behind theirs. */
const manyDeliveries = 100

/**
 * An event becomes one delivery for each webhook that wants it, and its first attempt is made at once where its endpoint has a place
 * (docs/decisions/0072). Of the others rows come first, then the topic, or with them that they wait: whoever takes a delivery finds its row. Both have identities of their
 * own, so that an event that comes twice makes nothing new.
 */
export function createFanOutHandler(dependencies: FanOutDependencies): RecordHandler<RaisedEvent> {
  const { webhooks, joinEvent, begin, metrics } = dependencies
  const select = createSelecting(dependencies)
  const ask = gatherAsking(dependencies)
  const wait = gatherWaiting(dependencies, ask)
  const inTurn = createPartitionTurns()
  const noteFailure = createBatcher<ExpressionFailure, undefined>({
    maxItems: chunkRows,
    async run(failures) {
      await webhooks.noteExpressionFailures(failures)
      return failures.map(() => undefined)
    },
  })
  return async ({ value: event, partition }, signal) => {
    const fault = checkEvent(event)
    if (fault !== undefined) return deadLetter(fault)
    const known = await webhooks.ofProject(event.project_id)
    if (known.length === 0) return ok()
    const data = joinEvent(event)
    const decided = await select(known, offerEvent(event, data), partition, signal)
    for (const { selection } of decided) metrics.selections.inc({ selection })
    const selected = decided.filter(({ selection }) => selection === 'selected')
    const failures = decided.flatMap(({ webhook, failure }) =>
      failure === null ? [] : [{ webhook, failure }],
    )
    if (selected.length + failures.length === 0) return ok()
    const message = { body: buildEnvelope(event, data), isTest: isTestEvent(data) }
    const tell = () =>
      allOver([
        ...selected.map(async ({ webhook }) => {
          const delivery = firstAttempt(event, webhook.id)
          const left = await begin(delivery, webhook, message)
          if (left !== 'nothing') await (left === 'ask' ? ask : wait)(delivery)
        }),
        ...failures.map(noteFailure),
      ])
    await (selected.length > manyDeliveries ? inTurn(partition, signal, tell) : tell())
    return ok()
  }
}

/**
 * Expressions of a project can take half a second an event (`filter-allowance.ts`), many such events minutes: those of a partition take turns
 * with each other, and all with the heartbeat, without which the consumer would be put out of its group, and the events would come back for ever.
 */
function createSelecting({ expressions }: FanOutDependencies) {
  const takeTurn = createTakeTurn()
  const inTurn = createPartitionTurns()
  return (
    webhooks: readonly Webhook[],
    offered: OfferedEvent,
    partition: number,
    signal: AbortSignal,
  ): Promise<Decision[]> => {
    const decide = () => selectWebhooks(webhooks, offered, expressions, takeTurn, () => performance.now())
    if (webhooks.every(({ filterExpression }) => filterExpression === null)) return decide()
    return inTurn(partition, signal, decide)
  }
}

/** What cannot be begun is asked for by a record, in chunks that the producer has room for. */
function gatherAsking({
  deliveries,
  publisher,
}: FanOutDependencies): (delivery: WebhookDelivery) => Promise<undefined> {
  return createBatcher<WebhookDelivery, undefined>({
    maxItems: chunkRows,
    async run(due) {
      for (const chunk of chunkDeliveries(due)) {
        await deliveries.insert(chunk)
        await publisher.publish(chunk.map((delivery) => ({ topic: 'deliveryDue', delivery })))
      }
      return due.map(() => undefined)
    },
  })
}

/** What a slow endpoint has no place for waits for it at once: by way of a record it would be written twice, and read, before it did. */
function gatherWaiting(
  { deliveries, limiter, metrics }: FanOutDependencies,
  ask: (delivery: WebhookDelivery) => Promise<undefined>,
): (delivery: WebhookDelivery) => Promise<undefined> {
  const wait = createBatcher<WebhookDelivery, boolean>({
    keyOf: ({ delivery_id: id }) => id,
    maxItems: chunkRows,
    async run(due) {
      const waits: boolean[] = []
      for (const chunk of chunkDeliveries(due)) waits.push(...(await deliveries.insertWaiting(chunk)))
      return waits
    },
  })
  return async (delivery) => {
    limiter.holdBack(delivery)
    // What another notifier begins at this moment is its own, until its claim is over: a record asks for it then.
    if (!(await wait(delivery))) return ask(delivery)
    metrics.waiting.inc({ reason: 'endpoint_full' })
  }
}

/** Waits for all, whatever becomes of one: what is under way when the runtime tries an event again would be claimed, by us. */
async function allOver(works: readonly Promise<unknown>[]): Promise<void> {
  const ends = await Promise.allSettled(works)
  const failed = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []))
  // What fails for good ends the event: not before the others are made.
  if (failed.length > 0) throw failed.find((error) => !(error instanceof PermanentError)) ?? failed[0]
}

export function firstAttempt(event: RaisedEvent, webhookId: string): WebhookDelivery {
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
