/** What is in flight to each endpoint, so that one that hangs takes few of the places that all share. */
export interface EndpointSlots {
  /**
   * A place, to be given back once; undefined when the endpoint has all of its own, or when others of it wait for one and
   * this is not one of them.
   */
  take(webhookId: string, from: 'topic' | 'waiting'): (() => void) | undefined
  /** Attempts of this endpoint wait for a place: those that come from a topic go behind them, not before. */
  holdBack(webhookId: string): void
  /** None of this endpoint wait any more. */
  letPass(webhookId: string): void
  /** Endpoints that are held back. */
  heldBack(): readonly string[]
  /** Says how an attempt ended: after one that ran into its time limit the endpoint has `slowLimit` places, until one does not. */
  note(webhookId: string, timedOut: boolean): void
  /** Of each endpoint that does not have all its places, how many are left. */
  placesLeft(): Map<string, number>
  /** Places taken. */
  total(): number
}

export interface SlotLimits {
  limit: number
  slowLimit: number
}

export function createEndpointSlots({ limit, slowLimit }: SlotLimits): EndpointSlots {
  const inFlight = new Map<string, number>()
  const slow = new Set<string>()
  const held = new Set<string>()
  let total = 0
  const left = (webhookId: string) =>
    Math.max(0, (slow.has(webhookId) ? slowLimit : limit) - (inFlight.get(webhookId) ?? 0))
  const giveBack = (webhookId: string) => {
    total--
    const others = (inFlight.get(webhookId) ?? 0) - 1
    if (others > 0) inFlight.set(webhookId, others)
    else inFlight.delete(webhookId)
  }
  return {
    take(webhookId, from) {
      if (left(webhookId) === 0 || (from === 'topic' && held.has(webhookId))) return undefined
      total++
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
    note(webhookId, timedOut) {
      if (timedOut) slow.add(webhookId)
      else slow.delete(webhookId)
    },
    placesLeft: () => new Map([...inFlight.keys(), ...slow].map((webhookId) => [webhookId, left(webhookId)])),
    total: () => total,
  }
}
