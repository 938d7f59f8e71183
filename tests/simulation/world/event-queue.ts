import type { SimProcess } from './sim-process.ts'

/** An event of the simulation at a virtual time, unless cancelled or its process has died. */
export interface PlannedEvent {
  atMs: number
  order: number
  owner: SimProcess | null
  run: (() => void) | null
}

/** Queue by time, then in the order of planning. A binary heap. */
export class EventQueue {
  readonly #heap: PlannedEvent[] = []

  get size(): number {
    return this.#heap.length
  }

  add(event: PlannedEvent): void {
    const heap = this.#heap
    let at = heap.push(event) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!isBefore(event, heap[above] as PlannedEvent)) break
      heap[at] = heap[above] as PlannedEvent
      at = above
    }
    heap[at] = event
  }

  takeFirst(): PlannedEvent | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= heap.length) break
      if (below + 1 < heap.length && isBefore(heap[below + 1] as PlannedEvent, heap[below] as PlannedEvent))
        below++
      if (!isBefore(heap[below] as PlannedEvent, last)) break
      heap[at] = heap[below] as PlannedEvent
      at = below
    }
    heap[at] = last
    return first
  }
}

function isBefore(one: PlannedEvent, other: PlannedEvent): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order)
}
