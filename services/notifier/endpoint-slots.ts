import { EndpointLines, type Endpoint, type GiveBack } from './endpoint-lines.ts'
import { SharedPlaces } from './shared-places.ts'

/**
 * What is in flight: so much to an endpoint and so much in all. Slow endpoints share half of it, those of which nothing is known yet a
 * quarter with one place each until an attempt has shown what they are, and both together leave the last quarter to quick ones.
 * Within each share projects come first (shared-places.ts): however many endpoints of one project hang, the others find places.
 */
export interface EndpointSlots {
  /** A place, to be given back once; undefined when there is none, or when others of this endpoint wait for one from topics. */
  take(endpoint: Endpoint, from: 'topic' | 'waiting'): GiveBack | undefined
  /** The same for what comes from a topic: undefined also when others wait in line. */
  takeNow(endpoint: Endpoint): GiveBack | undefined
  /** The same, but it waits a moment in line for a place at an endpoint that is quick. */
  takeSoon(endpoint: Endpoint): Promise<GiveBack | undefined>
  /** Whether one of those that wait would get a place now. */
  hasPlace(endpoint: Endpoint): boolean
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
  placesLeft(): PlacesLeft
  /** Places that are taken. */
  readonly taken: number
  /** That slow endpoints share, taken or not. */
  readonly slowPlaces: number
  /** Endpoints of which is known whether they are slow. */
  readonly known: number
}

export const endpointKinds = ['quick', 'slow', 'unknown'] as const
export type EndpointKind = (typeof endpointKinds)[number]
export type PlacesByKind = Readonly<Record<EndpointKind, number>>

export interface PlacesLeft {
  /** Endpoints that have places taken, are slow (those first that were noted longest ago) or are held back. Any other is unknown and has one place. */
  endpoints: readonly { webhookId: string; kind: EndpointKind; places: number }[]
  /** In all. */
  all: PlacesByKind
  /** By how much that is more than a project has, 0 where it may take none: of those that have any. */
  leads: ReadonlyMap<string, PlacesByKind>
}

export interface SlotOptions {
  perEndpoint: number
  total: number
  /** Endpoints of which is known whether they are slow; those not heard of for longest are forgotten. */
  maxKnown?: number
  /** Told whenever another number of places is taken, or of endpoints known. */
  onChange?: () => void
}

const defaultMaxKnown = 10_000

export function createEndpointSlots(options: SlotOptions): EndpointSlots {
  return new Slots(options)
}

class Slots implements EndpointSlots {
  readonly #options: SlotOptions
  readonly #inFlight = new Map<string, { endpoint: Endpoint; count: number }>()
  readonly #isSlow = new Map<string, boolean>()
  readonly #held = new Map<string, Endpoint>()
  readonly #lines: EndpointLines
  /** Somebody found the shares short, not its endpoint: until then nobody in line waits for what others give back. */
  #sharesLacked = false
  readonly #all: SharedPlaces
  readonly #shares: Readonly<Record<EndpointKind, readonly SharedPlaces[]>>
  readonly slowPlaces: number

  constructor(options: SlotOptions) {
    this.#options = options
    const { total, perEndpoint } = options
    const quarter = total >> 2
    this.slowPlaces = Math.max(1, total >> 1)
    this.#lines = new EndpointLines({ perEndpoint, take: (endpoint) => this.take(endpoint, 'topic') })
    this.#all = new SharedPlaces(total)
    const notQuick = new SharedPlaces(total - quarter)
    this.#shares = {
      quick: [this.#all],
      slow: [this.#all, notQuick, new SharedPlaces(this.slowPlaces)],
      unknown: [this.#all, notQuick, new SharedPlaces(quarter)],
    }
  }

  get taken(): number {
    return this.#all.taken
  }

  get known(): number {
    return this.#isSlow.size
  }

  take(endpoint: Endpoint, from: 'topic' | 'waiting'): GiveBack | undefined {
    const isBehindOthers = from === 'topic' && this.#held.has(endpoint.webhook_id)
    if (isBehindOthers || !this.hasPlace(endpoint)) return undefined
    this.#count(endpoint, 1)
    let given = false
    return () => {
      if (given) return
      given = true
      this.#count(endpoint, -1)
      this.#lines.advance(endpoint.webhook_id)
      this.#advanceLines()
    }
  }

  takeNow(endpoint: Endpoint): GiveBack | undefined {
    return this.#lines.has(endpoint.webhook_id) ? undefined : this.take(endpoint, 'topic')
  }

  async takeSoon(endpoint: Endpoint): Promise<GiveBack | undefined> {
    const place = this.takeNow(endpoint)
    return place !== undefined || !this.#mayWait(endpoint.webhook_id) ? place : this.#lines.wait(endpoint)
  }

  hasPlace(endpoint: Endpoint): boolean {
    if (this.#ownLeft(endpoint.webhook_id) <= 0) return false
    const shares = this.#shares[this.kindOf(endpoint.webhook_id)]
    const isLeft = shares.every((share) => share.hasFor(endpoint.project_id))
    this.#sharesLacked ||= !isLeft
    return isLeft
  }

  holdBack(endpoint: Endpoint): void {
    this.#held.set(endpoint.webhook_id, endpoint)
    this.#lines.end(endpoint.webhook_id)
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
    if (isSlow) this.#lines.end(webhookId)
    if (!changes) return
    this.#lines.advance(webhookId)
    this.#advanceLines()
    this.#tell()
  }

  placesLeft(): PlacesLeft {
    const slow = [...this.#isSlow].filter(([, isSlow]) => isSlow).map(([webhookId]) => webhookId)
    const listed = new Set([...slow, ...this.#inFlight.keys(), ...this.#held.keys()])
    const busy = new Set([...this.#inFlight.values()].map(({ endpoint }) => endpoint.project_id))
    const byKind = (left: (share: SharedPlaces) => number): PlacesByKind => {
      const of = (kind: EndpointKind) => Math.max(0, Math.min(...this.#shares[kind].map(left)))
      return { quick: of('quick'), slow: of('slow'), unknown: of('unknown') }
    }
    const leadsOf = (projectId: string) => byKind((share) => share.leadOf(projectId))
    return {
      endpoints: [...listed].map((webhookId) => ({
        webhookId,
        kind: this.kindOf(webhookId),
        places: Math.max(0, this.#ownLeft(webhookId)),
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
  #advanceLines(): void {
    if (!this.#sharesLacked) return
    this.#sharesLacked = false
    if (this.#lines.advanceSome()) this.#sharesLacked = true
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
