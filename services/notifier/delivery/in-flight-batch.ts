import { asError } from '../stores/batcher.ts'
import type { FinishedAttempt } from '../stores/delivery-store.ts'
import type { Attempt } from './attempt.ts'

export interface Ended<A extends Attempt = Attempt> {
  attempt: A
  result: FinishedAttempt
}

/** Sends an attempt. Calls `onEnd` once, before returning if nothing is sent. */
export type Send = (attempt: Attempt, onEnd: (result: FinishedAttempt) => void) => void

/** Attempts sent at the same time. They are taken as they end, until the rest is detached. */
export class InFlightBatch<A extends Attempt> {
  #all: readonly A[]
  readonly #hasEnded: boolean[]
  readonly #detached = new Map<number, (result: FinishedAttempt) => void>()
  /** Attempts whose request could not be made, because of a fault in this program. */
  readonly unsent: { attempt: A; error: Error }[] = []
  #ended: Ended<A>[] = []
  #left: number
  #onEmpty: (() => void) | undefined

  /** Releases the permit of each attempt as it ends. */
  constructor(all: readonly A[], send: Send) {
    this.#all = all
    this.#left = all.length
    this.#hasEnded = all.map(() => false)
    all.forEach((attempt, index) => {
      try {
        send(attempt, (result) => this.#end(attempt, index, result))
      } catch (error) {
        // An ended attempt keeps its result, whatever its sender throws afterwards.
        if (this.#hasEnded[index] === true) return
        this.#remove(attempt, index)
        this.unsent.push({ attempt, error: asError(error) })
      }
    })
  }

  /** Waits until all have ended, at most `withinMs`. Returns the ended ones not yet taken. */
  async takeEnded(withinMs: number): Promise<readonly Ended<A>[]> {
    if (this.#left > 0) await this.#empty(withinMs)
    return this.#ended.splice(0)
  }

  /** Returns the attempts that are left, each with its result to come. */
  detach(): { attempt: A; ending: Promise<FinishedAttempt> }[] {
    const all = this.#all
    // Frees the memory of the others while a slow attempt goes on.
    this.#all = []
    const justEnded = this.#ended
      .splice(0)
      .map(({ attempt, result }) => ({ attempt, ending: Promise.resolve(result) }))
    const unfinished = all.flatMap((attempt, index) => {
      if (this.#hasEnded[index] === true) return []
      const { promise: ending, resolve } = Promise.withResolvers<FinishedAttempt>()
      this.#detached.set(index, resolve)
      return [{ attempt, ending }]
    })
    return [...justEnded, ...unfinished]
  }

  #end(attempt: A, index: number, result: FinishedAttempt): void {
    if (this.#hasEnded[index] === true) return
    this.#remove(attempt, index)
    const resolve = this.#detached.get(index)
    if (resolve === undefined) this.#ended.push({ attempt, result })
    else resolve(result)
    if (this.#left === 0) this.#onEmpty?.()
  }

  #remove({ release }: A, index: number): void {
    release()
    this.#hasEnded[index] = true
    this.#left--
  }

  #empty(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      // The immediate reads an answer that has arrived: a busy process must not make a receiver slow.
      const timer = setTimeout(() => setImmediate(resolve), withinMs)
      this.#onEmpty = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
