import { WaitQueue, type Endpoint, type Release } from './wait-queue.ts'
import { SharedPermits } from './shared-permits.ts'

/**
 * What is in flight: so much to an endpoint and so much in all. Slow endpoints share half of it, those of which nothing is known yet a
 * quarter with one place each until an attempt has shown what they are, and both together leave the last quarter to quick ones.
 * Within each share projects come first (shared-permits.ts): however many endpoints of one project hang, the others find places.
 */
export interface EndpointLimiter {
  /** A place, to be given back once; undefined when there is none, or when others of this endpoint wait for one from topics. */
  acquire(endpoint: Endpoint, from: 'topic' | 'waiting'): Release | undefined
  /** The same for what comes from a topic: undefined also when others wait in line. */
  acquireNow(endpoint: Endpoint): Release | undefined
  /** The same, but it waits a moment in line for a place at an endpoint that is quick. */
  acquireSoon(endpoint: Endpoint): Promise<Release | undefined>
  /** Whether one of those that wait would get a place now. */
  hasPermit(endpoint: Endpoint): boolean
  /** Attempts of this endpoint wait for a place: those that come from a topic go behind them, not before. */
  holdBack(endpoint: Endpoint): void
  /** None of this endpoint wait any more. */
  letPass(webhookId: string): void
  /** Endpoints that are held back. */
  heldBack(): readonly Endpoint[]
  /** Says whether the endpoint is slow, as its latest attempt shows. */
  note(webhookId: string, isSlow: boolean): void
  /** As far as is known. */
  kindOf(webhookId: string): EndpointKind
  /** What those that wait may take. */
  permitsLeft(): PermitsLeft
  /** Places that are taken. */
  readonly taken: number
  /** That slow endpoints share, taken or not. */
  readonly slowPermits: number
  /** Endpoints of which is known whether they are slow. */
  readonly known: number
}

export const endpointKinds = ['quick', 'slow', 'unknown'] as const
export type EndpointKind = (typeof endpointKinds)[number]
export type PermitsByKind = Readonly<Record<EndpointKind, number>>

export interface PermitsLeft {
  /** Endpoints that have places taken, are slow (those first that were noted longest ago) or are held back. Any other is unknown and has one place. */
  endpoints: readonly { webhookId: string; kind: EndpointKind; permits: number }[]
  /** In all. */
  all: PermitsByKind
  /** By how much that is more than a project has, 0 where it may take none: of those that have any. */
  leads: ReadonlyMap<string, PermitsByKind>
}

export interface LimiterOptions {
  perEndpoint: number
  total: number
  /** Endpoints of which is known whether they are slow; those not heard of for longest are forgotten. */
  maxKnown?: number
  /** Told whenever another number of places is taken, or of endpoints known. */
  onChange?: () => void
}

const defaultMaxKnown = 10_000

export function createEndpointLimiter(options: LimiterOptions): EndpointLimiter {
  return new Limiter(options)
}

class Limiter implements EndpointLimiter {
  readonly #options: LimiterOptions
  readonly #inFlight = new Map<string, { endpoint: Endpoint; count: number }>()
  readonly #isSlow = new Map<string, boolean>()
  readonly #held = new Map<string, Endpoint>()
  readonly #queues: WaitQueue
  /** Somebody found the shares short, not its endpoint: until then nobody in line waits for what others give back. */
  #sharesLacked = false
  readonly #all: SharedPermits
  readonly #shares: Readonly<Record<EndpointKind, readonly SharedPermits[]>>
  readonly slowPermits: number

  constructor(options: LimiterOptions) {
    this.#options = options
    const { total, perEndpoint } = options
    const quarter = total >> 2
    this.slowPermits = Math.max(1, total >> 1)
    this.#queues = new WaitQueue({ perEndpoint, acquire: (endpoint) => this.acquire(endpoint, 'topic') })
    this.#all = new SharedPermits(total)
    const notQuick = new SharedPermits(total - quarter)
    this.#shares = {
      quick: [this.#all],
      slow: [this.#all, notQuick, new SharedPermits(this.slowPermits)],
      unknown: [this.#all, notQuick, new SharedPermits(quarter)],
    }
  }

  get taken(): number {
    return this.#all.taken
  }

  get known(): number {
    return this.#isSlow.size
  }

  acquire(endpoint: Endpoint, from: 'topic' | 'waiting'): Release | undefined {
    const isBehindOthers = from === 'topic' && this.#held.has(endpoint.webhook_id)
    if (isBehindOthers || !this.hasPermit(endpoint)) return undefined
    this.#count(endpoint, 1)
    let given = false
    return () => {
      if (given) return
      given = true
      this.#count(endpoint, -1)
      this.#queues.advance(endpoint.webhook_id)
      this.#advanceQueues()
    }
  }

  acquireNow(endpoint: Endpoint): Release | undefined {
    return this.#queues.has(endpoint.webhook_id) ? undefined : this.acquire(endpoint, 'topic')
  }

  async acquireSoon(endpoint: Endpoint): Promise<Release | undefined> {
    const permit = this.acquireNow(endpoint)
    return permit !== undefined || !this.#mayWait(endpoint.webhook_id) ? permit : this.#queues.wait(endpoint)
  }

  hasPermit(endpoint: Endpoint): boolean {
    if (this.#ownLeft(endpoint.webhook_id) <= 0) return false
    const shares = this.#shares[this.kindOf(endpoint.webhook_id)]
    const isLeft = shares.every((share) => share.hasFor(endpoint.project_id))
    this.#sharesLacked ||= !isLeft
    return isLeft
  }

  holdBack(endpoint: Endpoint): void {
    this.#held.set(endpoint.webhook_id, endpoint)
    this.#queues.end(endpoint.webhook_id)
  }

  letPass(webhookId: string): void {
    this.#held.delete(webhookId)
  }

  heldBack(): readonly Endpoint[] {
    return [...this.#held.values()]
  }

  note(webhookId: string, isSlow: boolean): void {
    const changes = this.#isSlow.get(webhookId) !== isSlow
    if (changes) this.#learn(webhookId, isSlow)
    else this.#keepKnown(webhookId, isSlow)
    while (this.#isSlow.size > (this.#options.maxKnown ?? defaultMaxKnown)) {
      const [oldest] = this.#isSlow.keys()
      if (oldest !== undefined) this.#learn(oldest, undefined)
    }
    if (isSlow) this.#queues.end(webhookId)
    if (!changes) return
    this.#queues.advance(webhookId)
    this.#advanceQueues()
    this.#tell()
  }

  permitsLeft(): PermitsLeft {
    const slow = [...this.#isSlow].filter(([, isSlow]) => isSlow).map(([webhookId]) => webhookId)
    const listed = new Set([...slow, ...this.#inFlight.keys(), ...this.#held.keys()])
    const busy = new Set([...this.#inFlight.values()].map(({ endpoint }) => endpoint.project_id))
    const byKind = (left: (share: SharedPermits) => number): PermitsByKind => {
      const of = (kind: EndpointKind) => Math.max(0, Math.min(...this.#shares[kind].map(left)))
      return { quick: of('quick'), slow: of('slow'), unknown: of('unknown') }
    }
    const leadsOf = (projectId: string) => byKind((share) => share.leadOf(projectId))
    return {
      endpoints: [...listed].map((webhookId) => ({
        webhookId,
        kind: this.kindOf(webhookId),
        permits: Math.max(0, this.#ownLeft(webhookId)),
      })),
      all: byKind((share) => share.left),
      leads: new Map([...busy].map((projectId) => [projectId, leadsOf(projectId)])),
    }
  }

  /** Behind attempts of its own that end soon; not behind those of others, which may take ten seconds. */
  #mayWait(webhookId: string): boolean {
    if (this.#held.has(webhookId)) return false
    const kind = this.kindOf(webhookId)
    return kind === 'quick' || (kind === 'unknown' && this.#inFlight.has(webhookId))
  }

  /** A place that all share may be what others wait for. */
  #advanceQueues(): void {
    if (!this.#sharesLacked) return
    this.#sharesLacked = false
    if (this.#queues.advanceSome()) this.#sharesLacked = true
  }

  kindOf(webhookId: string): EndpointKind {
    const isSlow = this.#isSlow.get(webhookId)
    if (isSlow === undefined) return 'unknown'
    return isSlow ? 'slow' : 'quick'
  }

  #ownLeft(webhookId: string): number {
    const limit = this.#isSlow.has(webhookId) ? this.#options.perEndpoint : 1
    return limit - (this.#inFlight.get(webhookId)?.count ?? 0)
  }

  /** What it has in flight goes with it to the share of its new kind. */
  #learn(webhookId: string, isSlow: boolean | undefined): void {
    const flight = this.#inFlight.get(webhookId)
    if (flight !== undefined) this.#countShares(flight.endpoint, -flight.count)
    if (isSlow === undefined) this.#isSlow.delete(webhookId)
    else this.#keepKnown(webhookId, isSlow)
    if (flight !== undefined) this.#countShares(flight.endpoint, flight.count)
  }

  /** As the one that was heard of last. */
  #keepKnown(webhookId: string, isSlow: boolean): void {
    this.#isSlow.delete(webhookId)
    this.#isSlow.set(webhookId, isSlow)
  }

  #count(endpoint: Endpoint, by: 1 | -1): void {
    const count = (this.#inFlight.get(endpoint.webhook_id)?.count ?? 0) + by
    if (count > 0) this.#inFlight.set(endpoint.webhook_id, { endpoint, count })
    else this.#inFlight.delete(endpoint.webhook_id)
    this.#countShares(endpoint, by)
    this.#tell()
  }

  #countShares({ webhook_id, project_id }: Endpoint, by: number): void {
    for (const share of this.#shares[this.kindOf(webhook_id)]) share.count(project_id, by)
  }

  #tell(): void {
    this.#options.onChange?.()
  }
}
