/** Fewer free entries are not worth reclaiming. */
const minGivenBack = 1_024

/**
 * A FIFO queue with constant cost. `Array.shift` moves every later element once an array has some thousands,
 * which took 9 % of the notifier's CPU.
 */
export class Queue<T> {
  #items: (T | undefined)[] = []
  #begin = 0

  get head(): T | undefined {
    return this.#items[this.#begin]
  }

  add(item: T): void {
    this.#items.push(item)
  }

  take(): T | undefined {
    if (this.#begin === this.#items.length) return undefined
    const item = this.#items[this.#begin]
    this.#items[this.#begin++] = undefined
    // Free entries stay until they are half of the array: then moving the rest costs one step per item.
    if (this.#begin >= minGivenBack && this.#begin * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#begin)
      this.#begin = 0
    }
    return item
  }

  /** Removes the rest and returns it in order. */
  clear(): T[] {
    const left = this.#items.slice(this.#begin) as T[]
    this.#items = []
    this.#begin = 0
    return left
  }
}
