import { systemClock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { claimLeaseMs, type Asker, type Attempt } from '../delivery/attempt.ts'
import { createAttemptDue } from '../delivery/attempt-due.ts'
import { createBeginDeliveries, type BeginEnd } from '../delivery/begin-deliveries.ts'
import { createDeliverFirst } from '../delivery/deliver-first.ts'
import type { DeliveryPublisher } from '../delivery/delivery-publisher.ts'
import type { FirstDelivery } from '../delivery/deliver-first.ts'
import { createHandOver } from '../delivery/hand-over.ts'
import { createRunAttempts } from '../delivery/run-attempts.ts'
import { UnderWay } from '../delivery/run-attempts.ts'
import { createUnwrittenAttempts } from '../delivery/unwritten-attempts.ts'
import { createFollowFailure, createWriteEnds } from '../delivery/write-ends.ts'
import { EndpointLimiter } from '../limits/endpoint-limiter.ts'
import { createNotifierMetrics } from '../notifier-metrics.ts'
import type { SendMessage } from '../sending/send-message.ts'
import type { OpenSecrets } from '../steps/open-secrets.ts'
import { signingKeyOf } from '../steps/sign-delivery.ts'
import type { DeliveryStore, FinishedAttempt } from '../stores/delivery-store.ts'
import type { WaitingStore } from '../stores/waiting-store.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import type { WebhookStore } from '../stores/webhook-store.ts'
import { createSetAside } from '../waiting/set-aside.ts'
import { deliveredAttempt, webhook, webhookDelivery } from './sample-records.ts'

export const keys = { current: signingKeyOf('whsec_c2VjcmV0'), previous: null }
export const message = { body: Buffer.from('{}'), isTest: false }

export function first(given: Partial<Webhook> = {}): FirstDelivery {
  const endpoint = webhook(given)
  return { delivery: webhookDelivery({ webhook_id: endpoint.id }), webhook: endpoint, message }
}

export interface BeginOptions {
  beginAll?: DeliveryStore['beginAll']
  finishAll?: DeliveryStore['finishAll']
  /** How the attempts end at once, in their order; undefined: not yet. */
  ends?: readonly (FinishedAttempt | undefined)[]
  sendMessage?: SendMessage
  openSecrets?: OpenSecrets
  /** Publishes what follows a failure. */
  publish?: () => Promise<void>
  addWaiting?: WaitingStore['add']
}

/**
 * The parts that begin deliveries, over stores in which everything succeeds but for what is given; and what
 * was done.
 */
export function createBeginFixture(options: BeginOptions = {}) {
  const time = { nowMs: 1_000 }
  const clock = {
    ...systemClock,
    now: () => time.nowMs,
    sleep: (delayMs: number) => Promise.resolve(void (time.nowMs += delayMs)),
  }
  const metrics = createNotifierMetrics(createMetrics())
  const limiter = new EndpointLimiter({ perEndpoint: 1, total: 64 })
  const unwritten = createUnwrittenAttempts(metrics, clock)
  const done = nothingDone()
  const lands: ((result: FinishedAttempt) => void)[] = []
  const shared = {
    ...createStores(options, done),
    sendMessage: createSending(options, done.sent, lands),
    openSecrets: options.openSecrets ?? (() => keys),
    joinEvent: () => {
      throw new Error('no event is read here')
    },
    destinations: { admit: () => Promise.resolve(undefined) },
    underWay: new UnderWay(),
    log: createLog('test', 'silent'),
    ...{ limiter, unwritten, metrics, clock },
  }
  const follow = createFollowFailure(shared)
  const run = createRunAttempts({ ...shared, writeEnds: createWriteEnds({ ...shared, follow }) })
  const setAside = createSetAside(shared)
  const asker: Asker = {
    hasRecord: true,
    onSlow: async (delivery, written) => void (await setAside.goOn(delivery, written)),
  }
  const beginDeliveries = createBeginDeliveries({ ...shared, run, asker })
  const attemptDue = createAttemptDue({ ...shared, run, follow })
  const handOver = createHandOver(shared)
  const deliverFirst = createDeliverFirst({ ...shared, begin: beginDeliveries, attemptDue, handOver, asker })
  /** How each delivery that is over ended. */
  const ended = new Map<string, BeginEnd>()
  const onEnd = ({ delivery }: Attempt, end: BeginEnd) => ended.set(delivery.delivery_id, end)
  return {
    ...deliverFirst,
    begin: (firsts: readonly FirstDelivery[]) =>
      beginDeliveries(deliverFirst.acquireAll(firsts) ?? [], (attempt, end) => void onEnd(attempt, end)),
    endsOf: (firsts: readonly FirstDelivery[]) => idsOf(firsts).map((id) => ended.get(id)),
    /** The claims run out. */
    passLease: () => (time.nowMs += claimLeaseMs),
    ...{ limiter, unwritten, lands, done },
  }
}

export function idsOf(all: readonly FirstDelivery[]): string[] {
  return all.map(({ delivery }) => delivery.delivery_id)
}

function nothingDone() {
  return {
    sent: [] as string[],
    /** One entry a statement. */
    finished: [] as { id: string; error: string | null }[][],
    published: [] as string[],
    inserted: [] as string[],
    waiting: [] as string[],
    aside: [] as string[],
    removed: [] as string[],
    /** Webhooks whose receiver is reached again. */
    healed: [] as string[],
  }
}

function createSending(
  { ends, sendMessage }: BeginOptions,
  sent: string[],
  lands: ((result: FinishedAttempt) => void)[],
): SendMessage {
  return (delivery, endpoint, given, onSent) => {
    sent.push(delivery.delivery_id)
    if (sendMessage !== undefined) {
      sendMessage(delivery, endpoint, given, onSent)
      return
    }
    const end = ends === undefined ? deliveredAttempt : ends[lands.length]
    lands.push(onSent)
    if (end !== undefined) onSent(end)
  }
}

function createStores(options: BeginOptions, done: ReturnType<typeof nothingDone>) {
  const idOf = ({ delivery_id: id }: WebhookDelivery) => id
  const deliveries: Partial<DeliveryStore> = {
    beginAll: options.beginAll ?? ((all) => Promise.resolve(all.map(() => true))),
    finishAll(ended) {
      done.finished.push(ended.map(({ delivery, attempt }) => ({ id: idOf(delivery), error: attempt.error })))
      return options.finishAll?.(ended) ?? Promise.resolve(ended.map(() => null))
    },
    insert: (all) => Promise.resolve(void done.inserted.push(...all.map(idOf))),
    insertWaiting(all) {
      done.waiting.push(...all.map(idOf))
      return Promise.resolve(all.map(() => true))
    },
    claim: () => Promise.reject(new Error('nothing is claimed here')),
  }
  const webhooks: Partial<WebhookStore> = {
    find: (_project, id) => Promise.resolve(webhook({ id })),
    noteDelivered: (id) => Promise.resolve(void done.healed.push(id)),
  }
  const waiting: Partial<WaitingStore> = {
    add: (delivery, due) =>
      options.addWaiting?.(delivery, due) ?? Promise.resolve(void done.aside.push(idOf(delivery))),
    remove: (delivery) => Promise.resolve(void done.removed.push(idOf(delivery))),
  }
  const publisher: DeliveryPublisher = {
    async publish(placed) {
      await options.publish?.()
      done.published.push(...placed.map(({ topic, delivery }) => `${topic} ${idOf(delivery)}`))
    },
  }
  return {
    deliveries: deliveries as DeliveryStore,
    webhooks: webhooks as WebhookStore,
    waiting: waiting as WaitingStore,
    publisher,
  }
}
