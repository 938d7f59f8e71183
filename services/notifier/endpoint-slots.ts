/**
 * What is in flight: so much to an endpoint and so much in all. Endpoints that are slow share half of it, so that however many
 * hang, the others find places.
 */
export interface EndpointSlots {
  /** A place, to be given back once; undefined when there is none, or when others of this endpoint wait for one from topics. */
  take(webhookId: string, from: 'topic' | 'waiting'): (() => void) | undefined
  /** Attempts of this endpoint wait for a place: those that come from a topic go behind them, not before. */
  holdBack(webhookId: string): void
  /** None of this endpoint wait any more. */
  letPass(webhookId: string): void
  /** Endpoints that are held back. */
  heldBack(): readonly string[]
  /** Says whether the endpoint is slow, as its latest attempt shows. */
  note(webhookId: string, isSlow: boolean): void
  /** Of each endpoint that does not have all its places, how many are left. */
  placesLeft(): Map<string, number>
}

export interface SlotOptions {
  perEndpoint: number
  total: number
  /** Told how many places are taken, whenever that changes. */
  onChange?: (taken: number) => void
}

export function createEndpointSlots(limits: SlotOptions): EndpointSlots {
  const inFlight = new Map<string, number>()
  const slow = new Set<string>()
  const held = new Set<string>()
  const slowLimit = Math.max(1, limits.total >> 1)
  let total = 0
  const slowTotal = () => [...slow].reduce((sum, webhookId) => sum + (inFlight.get(webhookId) ?? 0), 0)
  const left = (webhookId: string) => {
    const shared = slow.has(webhookId) ? slowLimit - slowTotal() : limits.total - total
    return Math.max(0, Math.min(shared, limits.perEndpoint - (inFlight.get(webhookId) ?? 0)))
  }
  const change = (by: 1 | -1) => {
    total += by
    limits.onChange?.(total)
  }
  const giveBack = (webhookId: string) => {
    change(-1)
    const others = (inFlight.get(webhookId) ?? 0) - 1
    if (others > 0) inFlight.set(webhookId, others)
    else inFlight.delete(webhookId)
  }
  return {
    take(webhookId, from) {
      if (left(webhookId) === 0 || (from === 'topic' && held.has(webhookId))) return undefined
      change(1)
      inFlight.set(webhookId, (inFlight.get(webhookId) ?? 0) + 1)
      let given = false
      return () => {
        if (!given) giveBack(webhookId)
        given = true
      }
    },
    holdBack: (webhookId) => void held.add(webhookId),
    letPass: (webhookId) => void held.delete(webhookId),
    heldBack: () => [...held],
    note(webhookId, isSlow) {
      if (isSlow) slow.add(webhookId)
      else slow.delete(webhookId)
    },
    placesLeft: () => new Map([...inFlight.keys(), ...slow].map((webhookId) => [webhookId, left(webhookId)])),
  }
}
