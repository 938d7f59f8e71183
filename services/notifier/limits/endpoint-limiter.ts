import { WaitQueue, type Endpoint, type Release } from './wait-queue.ts'
import { SharedPermits } from './shared-permits.ts'

export const endpointKinds = ['quick', 'slow', 'unknown'] as const
export type EndpointKind = (typeof endpointKinds)[number]
export type PermitsByKind = Readonly<Record<EndpointKind, number>>

export interface PermitsLeft {
  /** Endpoints with permits in use, slow (least recently noted first) or held back. Others: one permit. */
  endpoints: readonly { webhookId: string; kind: EndpointKind; permits: number }[]
  /** For all endpoints of a kind. */
  all: PermitsByKind
  /** How many more are left than a project holds, at least 0. Only for projects with permits in use. */
  leads: ReadonlyMap<string, PermitsByKind>
}

export interface LimiterOptions {
  perEndpoint: number
  total: number
  /** Limit of known endpoints. The least recently noted are forgotten. */
  maxKnown?: number
  /** Called whenever the number of permits in use or of known endpoints changes. */
  onChange?: () => void
}

const defaultMaxKnown = 10_000

/**
 * Limits attempts in flight, for each endpoint and in all. Slow endpoints share half of the permits. Unknown
 * ones share a quarter, one permit each, until an attempt has ended. Both together leave the last quarter to
 * quick ones. Each share is divided by project (shared-permits.ts): one project's hanging endpoints do not
 * starve the others.
 */
export class EndpointLimiter {
  readonly #options: LimiterOptions
  readonly #inFlight = new Map<string, { endpoint: Endpoint; count: number }>()
  readonly #isSlow = new Map<string, boolean>()
  readonly #held = new Map<string, Endpoint>()
  readonly #queues: WaitQueue
  /** A request found a share used up: releases of other endpoints now matter to the wait queue. */
  #sharesLacked = false
  readonly #all: SharedPermits
  readonly #shares: Readonly<Record<EndpointKind, readonly SharedPermits[]>>
  /** Permits that slow endpoints share, in use or not. */
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

  /** Permits in use. */
  get taken(): number {
    return this.#all.taken
  }

  /** Number of endpoints whose kind is known. */
  get known(): number {
    return this.#isSlow.size
  }

  /**
   * A permit, to be released once. Undefined if none is left, or for a record while its endpoint is held
   * back.
   */
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

  /** The same for a record. Undefined also if others stand in the wait queue. */
  acquireNow(endpoint: Endpoint): Release | undefined {
    return this.#queues.has(endpoint.webhook_id) ? undefined : this.acquire(endpoint, 'topic')
  }

  /** The same, but waits up to a second in the wait queue of a quick endpoint. */
  async acquireSoon(endpoint: Endpoint): Promise<Release | undefined> {
    const permit = this.acquireNow(endpoint)
    return permit !== undefined || !this.#mayWait(endpoint.webhook_id) ? permit : this.#queues.wait(endpoint)
  }

  /** Whether a waiting attempt would get a permit now. */
  hasPermit(endpoint: Endpoint): boolean {
    if (this.#ownLeft(endpoint.webhook_id) <= 0) return false
    const shares = this.#shares[this.kindOf(endpoint.webhook_id)]
    const isLeft = shares.every((share) => share.hasFor(endpoint.project_id))
    this.#sharesLacked ||= !isLeft
    return isLeft
  }

  /** Attempts of this endpoint wait in the database. Records queue behind them. */
  holdBack(endpoint: Endpoint): void {
    this.#held.set(endpoint.webhook_id, endpoint)
    this.#queues.end(endpoint.webhook_id)
  }

  /** No attempt of this endpoint waits any more. */
  letPass(webhookId: string): void {
    this.#held.delete(webhookId)
  }

  /** Endpoints that are held back. */
  heldBack(): readonly Endpoint[] {
    return [...this.#held.values()]
  }

  /** Notes whether the latest attempt was slow. */
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
    this.#options.onChange?.()
  }

  /** Permits for attempts that wait. */
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

  /** An endpoint may wait behind its own attempts, which end soon, not behind others, which may take 10 s. */
  #mayWait(webhookId: string): boolean {
    if (this.#held.has(webhookId)) return false
    const kind = this.kindOf(webhookId)
    return kind === 'quick' || (kind === 'unknown' && this.#inFlight.has(webhookId))
  }

  /** Other endpoints may wait for the released permit of a share. */
  #advanceQueues(): void {
    if (!this.#sharesLacked) return
    this.#sharesLacked = false
    if (this.#queues.advanceSome()) this.#sharesLacked = true
  }

  /** The kind of the endpoint, as far as known. */
  kindOf(webhookId: string): EndpointKind {
    const isSlow = this.#isSlow.get(webhookId)
    if (isSlow === undefined) return 'unknown'
    return isSlow ? 'slow' : 'quick'
  }

  #ownLeft(webhookId: string): number {
    const limit = this.#isSlow.has(webhookId) ? this.#options.perEndpoint : 1
    return limit - (this.#inFlight.get(webhookId)?.count ?? 0)
  }

  /** Its permits in use move to the share of its new kind. */
  #learn(webhookId: string, isSlow: boolean | undefined): void {
    const own = this.#inFlight.get(webhookId)
    if (own !== undefined) this.#countShares(own.endpoint, -own.count)
    if (isSlow === undefined) this.#isSlow.delete(webhookId)
    else this.#keepKnown(webhookId, isSlow)
    if (own !== undefined) this.#countShares(own.endpoint, own.count)
  }

  /** Moves it to the end: the most recently noted. */
  #keepKnown(webhookId: string, isSlow: boolean): void {
    this.#isSlow.delete(webhookId)
    this.#isSlow.set(webhookId, isSlow)
  }

  #count(endpoint: Endpoint, by: 1 | -1): void {
    const count = (this.#inFlight.get(endpoint.webhook_id)?.count ?? 0) + by
    if (count > 0) this.#inFlight.set(endpoint.webhook_id, { endpoint, count })
    else this.#inFlight.delete(endpoint.webhook_id)
    this.#countShares(endpoint, by)
    this.#options.onChange?.()
  }

  #countShares({ webhook_id, project_id }: Endpoint, by: number): void {
    for (const share of this.#shares[this.kindOf(webhook_id)]) share.count(project_id, by)
  }
}
