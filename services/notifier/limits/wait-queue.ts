import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'

export type Endpoint = Pick<WebhookDelivery, 'webhook_id' | 'project_id'>
/** Gives a place back, once however often it is called. */
export type Release = () => void

/**
 * In line for one endpoint, for each of its places, and for how long: enough for a burst, which would cost three statements more by
 * way of the database; too little for a busy endpoint to keep those behind it in its partition from theirs.
 */
const waitersPerPermit = 4
const maxWaitMs = 1_000
/** Lines of other endpoints that are looked at when a place becomes free, in turns: a microsecond, however many there are. */
const maxQueuesPerTurn = 8

interface Waiter {
  settle: (permit: Release | undefined) => void
  timer: NodeJS.Timeout
}

interface EndpointQueue {
  endpoint: Endpoint
  waiters: Set<Waiter>
}

interface WaitQueueOptions {
  /** Places of one endpoint. */
  perEndpoint: number
  /** Takes a place for who is first; undefined when there is none. */
  acquire: (endpoint: Endpoint) => Release | undefined
}

/** Those that wait a moment for a place, at each endpoint in the order in which they came. */
export class WaitQueue {
  readonly #options: WaitQueueOptions
  readonly #queues = new Map<string, EndpointQueue>()

  constructor(options: WaitQueueOptions) {
    this.#options = options
  }

  has(webhookId: string): boolean {
    return this.#queues.has(webhookId)
  }

  /** Resolves with undefined when the line is full, when it ends, and after a second. */
  wait(endpoint: Endpoint): Promise<Release | undefined> {
    const id = endpoint.webhook_id
    const queue = this.#queues.get(id) ?? { endpoint, waiters: new Set() }
    if (queue.waiters.size >= waitersPerPermit * this.#options.perEndpoint) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const waiter = { settle: resolve, timer: setTimeout(() => this.#remove(id, waiter), maxWaitMs) }
      queue.waiters.add(waiter)
      this.#queues.set(id, queue)
    })
  }

  /** Gives those of the endpoint what places there are. */
  advance(webhookId: string): void {
    const queue = this.#queues.get(webhookId)
    for (const waiter of queue?.waiters ?? []) {
      const permit = queue && this.#options.acquire(queue.endpoint)
      if (permit === undefined) return
      this.#remove(webhookId, waiter, permit)
    }
  }

  /** The same for some of the endpoints: whoever was looked at is last the next time. Tells whether there are more of them. */
  advanceSome(): boolean {
    const queues = this.#queues.size
    // One that was looked at comes again at the end: no more than there are, or few would be looked at several times.
    let left = Math.min(queues, maxQueuesPerTurn)
    for (const [webhookId, queue] of this.#queues) {
      if (left-- === 0) break
      this.#queues.delete(webhookId)
      this.#queues.set(webhookId, queue)
      this.advance(webhookId)
    }
    return queues > maxQueuesPerTurn
  }

  /** Lets all of the endpoint go without a place. */
  end(webhookId: string): void {
    for (const waiter of this.#queues.get(webhookId)?.waiters ?? []) this.#remove(webhookId, waiter)
  }

  #remove(webhookId: string, waiter: Waiter, permit?: Release): void {
    const queue = this.#queues.get(webhookId)
    queue?.waiters.delete(waiter)
    if (queue?.waiters.size === 0) this.#queues.delete(webhookId)
    clearTimeout(waiter.timer)
    waiter.settle(permit)
  }
}
