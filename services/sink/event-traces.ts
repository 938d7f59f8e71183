import type { TraceContext } from '#runtime/tracing/tracing.ts'

/**
 * The traces that events go on, from the transaction that writes them to their relay. In memory: an event
 * that another sink relays, or this one after a restart, begins a trace of its own.
 */
export interface EventTraces {
  note(eventId: string, trace: TraceContext | undefined): void
  of(eventId: string): TraceContext | undefined
}

/** About 3 MB. */
const maxNoted = 10_000

export function createEventTraces(): EventTraces {
  const noted = new Map<string, TraceContext>()
  return {
    note(eventId, trace) {
      if (trace === undefined) return
      noted.set(eventId, trace)
      const [oldest] = noted.keys()
      if (noted.size > maxNoted && oldest !== undefined) noted.delete(oldest)
    },
    // Kept until others take its place: a relay that fails asks again.
    of: (eventId) => noted.get(eventId),
  }
}
