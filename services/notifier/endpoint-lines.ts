import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'

export type Endpoint = Pick<WebhookDelivery, 'webhook_id' | 'project_id'>
/** Gives a place back, once however often it is called. */
export type GiveBack = () => void

/**
 * In line for one endpoint, for each of its places, and for how long: enough for a burst, which would cost three statements more by
 * way of the database; too little for a busy endpoint to keep those behind it in its partition from theirs.
 */
const inLinePerPlace = 4
const inLineMs = 1_000
/** Lines of other endpoints that are looked at when a place becomes free, in turns: a microsecond, however many there are. */
const linesLookedAt = 8

interface InLine {
  settle: (place: GiveBack | undefined) => void
  timer: NodeJS.Timeout
}

interface Line {
  endpoint: Endpoint
  waiters: Set<InLine>
}

interface LineOptions {
  /** Places of one endpoint. */
  perEndpoint: number
  /** Takes a place for who is first; undefined when there is none. */
  take: (endpoint: Endpoint) => GiveBack | undefined
}

/** Those that wait a moment for a place, at each endpoint in the order in which they came. */
export class EndpointLines {
  readonly #options: LineOptions
  readonly #lines = new Map<string, Line>()

  constructor(options: LineOptions) {
    this.#options = options
  }

  has(webhookId: string): boolean {
    return this.#lines.has(webhookId)
  }

  /** Resolves with undefined when the line is full, when it ends, and after a second. */
  wait(endpoint: Endpoint): Promise<GiveBack | undefined> {
    const id = endpoint.webhook_id
    const line = this.#lines.get(id) ?? { endpoint, waiters: new Set() }
    if (line.waiters.size >= inLinePerPlace * this.#options.perEndpoint) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const waiter = { settle: resolve, timer: setTimeout(() => this.#leave(id, waiter), inLineMs) }
      line.waiters.add(waiter)
      this.#lines.set(id, line)
    })
  }

  /** Gives those of the endpoint what places there are. */
  advance(webhookId: string): void {
    const line = this.#lines.get(webhookId)
    for (const waiter of line?.waiters ?? []) {
      const place = line && this.#options.take(line.endpoint)
      if (place === undefined) return
      this.#leave(webhookId, waiter, place)
    }
  }

  /** The same for some of the endpoints: whoever was looked at is last the next time. Tells whether there are more of them. */
  advanceSome(): boolean {
    const lines = this.#lines.size
    // One that was looked at comes again at the end: no more than there are, or few would be looked at several times.
    let left = Math.min(lines, linesLookedAt)
    for (const [webhookId, line] of this.#lines) {
      if (left-- === 0) break
      this.#lines.delete(webhookId)
      this.#lines.set(webhookId, line)
      this.advance(webhookId)
    }
    return lines > linesLookedAt
  }

  /** Lets all of the endpoint go without a place. */
  end(webhookId: string): void {
    for (const waiter of this.#lines.get(webhookId)?.waiters ?? []) this.#leave(webhookId, waiter)
  }

  #leave(webhookId: string, waiter: InLine, place?: GiveBack): void {
    const line = this.#lines.get(webhookId)
    line?.waiters.delete(waiter)
    if (line?.waiters.size === 0) this.#lines.delete(webhookId)
    clearTimeout(waiter.timer)
    waiter.settle(place)
  }
}
