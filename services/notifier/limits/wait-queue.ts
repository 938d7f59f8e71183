import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'

export type Endpoint = Pick<WebhookDelivery, 'webhook_id' | 'project_id'>
/** Releases a permit. Calling it again does nothing. */
export type Release = () => void

/**
 * Limits of one endpoint's queue. Long enough for a burst: waiting in the database costs three statements
 * more. Short enough that a busy endpoint does not hold up the records behind it in its partition.
 */
const waitersPerPermit = 4
const maxWaitMs = 1_000
/** Queues of other endpoints tried after a release, in turns: one microsecond, however many there are. */
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
  /** Permits of one endpoint. */
  perEndpoint: number
  /** Acquires a permit for the first in the queue; undefined if none is left. */
  acquire: (endpoint: Endpoint) => Release | undefined
}

/** Requests that wait up to a second for a permit, for each endpoint in order of arrival. */
export class WaitQueue {
  readonly #options: WaitQueueOptions
  readonly #queues = new Map<string, EndpointQueue>()

  constructor(options: WaitQueueOptions) {
    this.#options = options
  }

  has(webhookId: string): boolean {
    return this.#queues.has(webhookId)
  }

  /** Resolves with undefined if the queue is full, when it is ended, and after a second. */
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

  /** Gives the endpoint's waiters the permits that are left. */
  advance(webhookId: string): void {
    const queue = this.#queues.get(webhookId)
    for (const waiter of queue?.waiters ?? []) {
      const permit = queue && this.#options.acquire(queue.endpoint)
      if (permit === undefined) return
      this.#remove(webhookId, waiter, permit)
    }
  }

  /** The same for some endpoints, which go last the next time. Returns whether there are more. */
  advanceSome(): boolean {
    const queues = this.#queues.size
    // Tried queues move to the end, so the count is limited by their number: none is tried twice.
    let left = Math.min(queues, maxQueuesPerTurn)
    for (const [webhookId, queue] of this.#queues) {
      if (left-- === 0) break
      this.#queues.delete(webhookId)
      this.#queues.set(webhookId, queue)
      this.advance(webhookId)
    }
    return queues > maxQueuesPerTurn
  }

  /** Ends the endpoint's queue without permits. */
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
