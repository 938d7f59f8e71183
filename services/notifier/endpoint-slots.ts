/**
 * What is in flight: so much to an endpoint and so much in all. Endpoints that are slow share half of it, and one of which
 * nothing is known yet has one place until its first attempt ends: however many hang, the others find places.
 */
export interface EndpointSlots {
  /** A place, to be given back once; undefined when there is none, or when others of this endpoint wait for one from topics. */
  take(webhookId: string, from: 'topic' | 'waiting'): GiveBack | undefined
  /** The same for what comes from a topic, which waits a moment in line for a place at an endpoint that is quick. */
  takeSoon(webhookId: string): Promise<GiveBack | undefined>
  /** Attempts of this endpoint wait for a place: those that come from a topic go behind them, not before. */
  holdBack(webhookId: string): void
  /** None of this endpoint wait any more. */
  letPass(webhookId: string): void
  /** Endpoints that are held back. */
  heldBack(): readonly string[]
  /** Says whether the endpoint is slow, as its latest attempt shows. */
  note(webhookId: string, isSlow: boolean): void
  /** Places to give to endpoints that have some taken, are slow or are held back. Any other has one. */
  placesLeft(): Map<string, number>
  /** Places left in all. */
  free(): number
}

export type GiveBack = () => void

export interface SlotOptions {
  perEndpoint: number
  total: number
  /** Told how many places are taken, whenever that changes. */
  onChange?: (taken: number) => void
}

/**
 * In line for one endpoint, for each of its places, and for how long: enough for a burst, which would cost three statements more by
 * way of the database; too little for a busy endpoint to keep those behind it in its partition from theirs.
 */
const inLinePerPlace = 4
const inLineMs = 1_000

interface InLine {
  settle: (place: GiveBack | undefined) => void
  timer: NodeJS.Timeout
}

export function createEndpointSlots(options: SlotOptions): EndpointSlots {
  return new Slots(options)
}

class Slots implements EndpointSlots {
  readonly #options: SlotOptions
  readonly #inFlight = new Map<string, number>()
  readonly #isSlow = new Map<string, boolean>()
  readonly #held = new Set<string>()
  readonly #lines = new Map<string, Set<InLine>>()
  readonly #slowLimit: number
  #taken = 0
  #takenBySlow = 0

  constructor(options: SlotOptions) {
    this.#options = options
    this.#slowLimit = Math.max(1, options.total >> 1)
  }

  take(webhookId: string, from: 'topic' | 'waiting'): GiveBack | undefined {
    const shared = this.#isSlow.get(webhookId) === true ? this.#freeForSlow() : this.free()
    const isBehindOthers = from === 'topic' && this.#held.has(webhookId)
    if (isBehindOthers || shared <= 0 || this.#ownLeft(webhookId) <= 0) return undefined
    this.#count(webhookId, 1)
    let given = false
    return () => {
      if (given) return
      given = true
      this.#count(webhookId, -1)
      this.#advanceLine(webhookId)
    }
  }

  async takeSoon(webhookId: string): Promise<GiveBack | undefined> {
    const line = this.#lines.get(webhookId) ?? new Set()
    const place = line.size > 0 ? undefined : this.take(webhookId, 'topic')
    const mayWait = this.#isSlow.get(webhookId) !== true && !this.#held.has(webhookId)
    if (place !== undefined || !mayWait || line.size >= inLinePerPlace * this.#options.perEndpoint)
      return place
    return new Promise((resolve) => {
      const waiter = {
        settle: resolve,
        timer: setTimeout(() => this.#leaveLine(webhookId, waiter), inLineMs),
      }
      this.#lines.set(webhookId, line.add(waiter))
    })
  }

  holdBack(webhookId: string): void {
    this.#held.add(webhookId)
    this.#endLine(webhookId)
  }

  letPass(webhookId: string): void {
    this.#held.delete(webhookId)
  }

  heldBack(): readonly string[] {
    return [...this.#held]
  }

  note(webhookId: string, isSlow: boolean): void {
    const wasSlow = this.#isSlow.get(webhookId) === true
    if (wasSlow !== isSlow) this.#takenBySlow += (isSlow ? 1 : -1) * this.#of(webhookId)
    this.#isSlow.set(webhookId, isSlow)
    if (isSlow) this.#endLine(webhookId)
  }

  placesLeft(): Map<string, number> {
    const slow = [...this.#isSlow].filter(([, isSlow]) => isSlow).map(([webhookId]) => webhookId)
    const known = new Set([...this.#inFlight.keys(), ...this.#held])
    const places = new Map([...known].map((webhookId) => [webhookId, Math.max(0, this.#ownLeft(webhookId))]))
    // What the slow ones have left is dealt out one by one, to those first that have least in flight.
    slow.sort((a, b) => this.#of(a) - this.#of(b))
    for (const webhookId of slow) places.set(webhookId, 0)
    let left = this.#freeForSlow()
    for (let round = 1; left > 0 && round <= this.#options.perEndpoint; round++) {
      for (const webhookId of slow) {
        if (left <= 0 || this.#ownLeft(webhookId) < round) continue
        places.set(webhookId, round)
        left--
      }
    }
    return places
  }

  free(): number {
    return this.#options.total - this.#taken
  }

  #advanceLine(webhookId: string): void {
    for (const waiter of this.#lines.get(webhookId) ?? []) {
      const place = this.take(webhookId, 'topic')
      if (place === undefined) return
      this.#leaveLine(webhookId, waiter, place)
    }
  }

  #endLine(webhookId: string): void {
    for (const waiter of this.#lines.get(webhookId) ?? []) this.#leaveLine(webhookId, waiter)
  }

  #leaveLine(webhookId: string, waiter: InLine, place?: GiveBack): void {
    const line = this.#lines.get(webhookId)
    line?.delete(waiter)
    if (line?.size === 0) this.#lines.delete(webhookId)
    clearTimeout(waiter.timer)
    waiter.settle(place)
  }

  #freeForSlow(): number {
    return Math.min(this.#slowLimit - this.#takenBySlow, this.free())
  }

  #ownLeft(webhookId: string): number {
    const limit = this.#isSlow.has(webhookId) ? this.#options.perEndpoint : 1
    return limit - this.#of(webhookId)
  }

  #of(webhookId: string): number {
    return this.#inFlight.get(webhookId) ?? 0
  }

  #count(webhookId: string, by: 1 | -1): void {
    const inFlight = this.#of(webhookId) + by
    if (inFlight > 0) this.#inFlight.set(webhookId, inFlight)
    else this.#inFlight.delete(webhookId)
    this.#taken += by
    if (this.#isSlow.get(webhookId) === true) this.#takenBySlow += by
    this.#options.onChange?.(this.#taken)
  }
}
