/** Below so many places are not worth being given back. */
const minGivenBack = 1_024

/**
 * First in, first out, at the same cost however many there are: `Array.shift` moves all that is behind in an array of some thousands (of the
 * notifier's processor it took 9 %).
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
    // Places are kept until half of them are empty: then moving the rest costs each item one step.
    if (this.#begin >= minGivenBack && this.#begin * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#begin)
      this.#begin = 0
    }
    return item
  }

  /** Those that are left, in their order. */
  clear(): T[] {
    const left = this.#items.slice(this.#begin) as T[]
    this.#items = []
    this.#begin = 0
    return left
  }
}
