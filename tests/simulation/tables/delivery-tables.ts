import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { Claim, DeliveryStore, FinishedAttempt } from '#services/notifier/stores/delivery-store.ts'
import type { WaitingStore } from '#services/notifier/stores/waiting-store.ts'
import type { WebhookStore } from '#services/notifier/stores/webhook-store.ts'
import type { Database, DeliveryEntry } from './database.ts'

/** Like services/notifier/stores/delivery-store.ts. */
export function createSimDeliveryStore(database: Database, leaseMs: number): DeliveryStore {
  const { deliveries, waiting, world } = database
  const insert = (delivery: WebhookDelivery): boolean => {
    if (deliveries.has(delivery.delivery_id)) return false
    const row: DeliveryEntry = { delivery, attemptCount: 0, status: 'pending', attempts: new Map() }
    deliveries.set(delivery.delivery_id, row)
    return true
  }
  const begin = (delivery: WebhookDelivery): boolean => {
    if (!insert(delivery)) return false
    claim(deliveries, delivery, world.nowMs, leaseMs)
    database.onClaimed(delivery)
    return true
  }
  const finish = (delivery: WebhookDelivery, ended: FinishedAttempt) => {
    const { delivery_id: id, attempt: number, first_attempt: first } = delivery
    const row = deliveries.get(id)
    const made = row?.attempts.get(number)
    if (row === undefined || made === undefined) return
    if (ended.error !== null) made.firstFailedMs = Math.min(made.firstFailedMs, ended.finishedAtMs)
    if (made.finished !== null && ended.error !== null) return
    made.finished = ended
    if (row.attemptCount >= number && ended.error !== null) return
    row.attemptCount = Math.max(row.attemptCount, number)
    if (ended.error === null) row.status = 'delivered'
    else if (row.status !== 'delivered' || number === first) row.status = ended.isLast ? 'failed' : 'retrying'
  }
  return {
    insert: (asked) => database.ask(() => asked.forEach(insert)),
    insertWaiting: (asked) =>
      database.ask(() => {
        for (const delivery of asked) {
          insert(delivery)
          const { delivery_id: id } = delivery
          if (!waiting.has(id)) waiting.set(id, { delivery, dueAtMs: world.nowMs })
        }
        return asked.map(() => true)
      }),
    beginAll: (asked) =>
      inStatements(database, asked, ({ delivery }) => {
        const isOurs = begin(delivery)
        if (isOurs && asked.length > 1) database.begunTogether++
        return isOurs
      }),
    claim: (delivery) =>
      database.ask(() => {
        const claimed = claim(deliveries, delivery, world.nowMs, leaseMs)
        if (claimed.kind === 'claimed') database.onClaimed(delivery)
        return claimed
      }),
    finishAll: (asked) =>
      inStatements(database, asked, ({ delivery, attempt }) => {
        finish(delivery, attempt)
        return null
      }),
  }
}

/**
 * Splits a batch into one or more statements, as concurrent requests do in stores/batcher.ts. Each is atomic
 * and fails or succeeds on its own.
 */
async function inStatements<I, O>(
  database: Database,
  items: readonly I[],
  effect: (item: I) => O,
): Promise<(O | Error)[]> {
  const { random } = database.world
  const statements: I[][] = []
  for (const item of items) {
    const last = statements.at(-1)
    if (last === undefined || random.chance(0.2)) statements.push([item])
    else last.push(item)
  }
  const answers = statements.map(async (some): Promise<(O | Error)[]> => {
    try {
      return await database.ask(() => some.map(effect))
    } catch (error) {
      return some.map(() => error as Error)
    }
  })
  return (await Promise.all(answers)).flat()
}

function claim(
  deliveries: Map<string, DeliveryEntry>,
  { delivery_id: id, attempt: number, first_attempt: first }: WebhookDelivery,
  nowMs: number,
  leaseMs: number,
): Claim {
  const row = deliveries.get(id)
  if (row === undefined) return { kind: 'gone' }
  const before = row.attempts.get(number)
  const mayBegin = row.attemptCount < number && (row.status !== 'delivered' || number === first)
  const isFree = before === undefined || (before.finished === null && before.leaseUntilMs < nowMs)
  if (mayBegin && isFree) {
    const claims = (before?.claims ?? 0) + 1
    const firstFailedMs = before?.firstFailedMs ?? Infinity
    row.attempts.set(number, { leaseUntilMs: nowMs + leaseMs, claims, finished: null, firstFailedMs })
    return { kind: 'claimed' }
  }
  if (row.status === 'delivered' && number !== first) return { kind: 'superseded' }
  if (row.attemptCount < number) return { kind: 'leased', untilMs: before?.leaseUntilMs ?? nowMs + leaseMs }
  const finished = before?.finished
  if (row.attemptCount !== number || finished?.error == null || row.status === 'pending')
    return { kind: 'superseded' }
  return {
    kind: 'failed_before',
    failedAtMs: finished.finishedAtMs,
    error: finished.error,
    isLast: row.status === 'failed',
  }
}

/** Like services/notifier/stores/waiting-store.ts, in turn by endpoint, without fairness between projects. */
export function createSimWaitingStore(database: Database): WaitingStore {
  const { waiting, world } = database
  return {
    add: (delivery, due) =>
      database.ask(() => {
        const before = waiting.get(delivery.delivery_id)
        if (!database.deliveries.has(delivery.delivery_id)) return
        if (before !== undefined && before.delivery.attempt >= delivery.attempt) return
        const dueAtMs = 'atMs' in due ? due.atMs : world.nowMs + due.inMs
        waiting.set(delivery.delivery_id, { delivery, dueAtMs })
      }),
    take: ({ permits, maxSlow, leaseMs }) =>
      database.ask(() => {
        const left = new Map(permits.endpoints.map(({ webhookId, permits: count }) => [webhookId, count]))
        const slow = new Set(
          permits.endpoints.filter(({ kind }) => kind === 'slow').map((one) => one.webhookId),
        )
        let slowLeft = maxSlow
        const due = [...waiting.values()].filter(({ delivery, dueAtMs }) => {
          const count = left.get(delivery.webhook_id) ?? 1
          const isSlow = slow.has(delivery.webhook_id)
          if (dueAtMs > world.nowMs || count === 0 || (isSlow && slowLeft === 0)) return false
          left.set(delivery.webhook_id, count - 1)
          if (isSlow) slowLeft--
          return true
        })
        for (const entry of due) entry.dueAtMs = world.nowMs + leaseMs
        return due.map(({ delivery }) => delivery)
      }),
    remove: (delivery) =>
      database.ask(() => {
        if (waiting.get(delivery.delivery_id)?.delivery.attempt === delivery.attempt)
          waiting.delete(delivery.delivery_id)
      }),
    putBack: (delivery) =>
      database.ask(() => {
        const entry = waiting.get(delivery.delivery_id)
        if (entry?.delivery.attempt === delivery.attempt) entry.dueAtMs = world.nowMs
      }),
  }
}

/** Webhooks do not change during a seed. */
export function createSimWebhookStore(database: Database): WebhookStore {
  const { webhooks } = database
  return {
    ofProject: (project) => database.ask(() => webhooks.filter(({ projectId }) => projectId === project)),
    find: (_project, id) => database.ask(() => webhooks.find((webhook) => webhook.id === id)),
    noteExpressionFailures: () => database.ask(() => undefined),
    noteFailure: () => database.ask(() => ({ reason: null, isNew: false })),
    noteDelivered: () => database.ask(() => undefined),
  }
}
