import type { CaptureBudget } from '../recording/capture-budget.ts'
import type { HeldRequest } from './open-response.ts'

/** What each entry takes besides its text. */
const overheadBytes = 256

/** What was said since the last response, within the limit of a body and the memory budget. */
export class HeldItems<T> {
  readonly #budget: CaptureBudget
  readonly #maxBytes: number
  #items: T[] = []
  #bytes = 0
  #taken = 0
  #isCut = false

  constructor(budget: CaptureBudget, maxBytes: number) {
    this.#budget = budget
    this.#maxBytes = maxBytes
  }

  /** Returns whether it is held. */
  add(item: T): boolean {
    return this.grow(JSON.stringify(item).length) && this.#items.push(item) > 0
  }

  /** Reserves bytes for what an item will have; false: no more fits. */
  grow(byteLength: number): boolean {
    const takes = byteLength + overheadBytes
    const fits = this.#bytes + byteLength <= this.#maxBytes && this.#budget.acquire(takes)
    if (fits) {
      this.#bytes += byteLength
      this.#taken += takes
    } else this.#isCut = true
    return fits
  }

  get items(): readonly T[] {
    return this.#items
  }

  /** Whether something did not fit. */
  get isCut(): boolean {
    return this.#isCut
  }

  release(): void {
    this.#budget.release(this.#taken)
    this.#items = []
    this.#bytes = this.#taken = 0
  }
}

/** A request that is made of held items. `body` is asked once, when the response is recorded. */
export function requestOf(held: HeldItems<unknown>, body: () => object): HeldRequest {
  return {
    bytes() {
      const cut = held.isCut ? { truncated: true } : {}
      const bytes = Buffer.from(JSON.stringify({ ...body(), ...cut }))
      return { bytes, byteLength: bytes.length, sha256: null }
    },
    release: () => held.release(),
  }
}
