import type { SimProcess } from './sim-process.ts'

/** An event of the simulation at a virtual time, unless cancelled or its process has died. */
export interface Happening {
  atMs: number
  order: number
  owner: SimProcess | null
  run: (() => void) | null
}

/** Queue by time, then in the order of planning. A binary heap. */
export class Happenings {
  readonly #heap: Happening[] = []

  get size(): number {
    return this.#heap.length
  }

  add(happening: Happening): void {
    const heap = this.#heap
    let at = heap.push(happening) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!isBefore(happening, heap[above] as Happening)) break
      heap[at] = heap[above] as Happening
      at = above
    }
    heap[at] = happening
  }

  takeFirst(): Happening | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= heap.length) break
      if (below + 1 < heap.length && isBefore(heap[below + 1] as Happening, heap[below] as Happening)) below++
      if (!isBefore(heap[below] as Happening, last)) break
      heap[at] = heap[below] as Happening
      at = below
    }
    heap[at] = last
    return first
  }
}

function isBefore(one: Happening, other: Happening): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order)
}
