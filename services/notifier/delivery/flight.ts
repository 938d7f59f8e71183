import type { Release } from '../limits/wait-queue.ts'
import type { SendMessage } from '../sending/send-message.ts'
import type { Message } from '../steps/open-message.ts'
import type { FinishedAttempt } from '../stores/delivery-store.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'

/** Has its place at its endpoint. */
export interface PlacedDelivery {
  /** Which of the events that are told of together. */
  eventIndex: number
  delivery: WebhookDelivery
  webhook: Webhook
  message: Message
  release: Release
}

export interface Landed {
  placed: PlacedDelivery
  attempt: FinishedAttempt
}

/** Deliveries that are sent together: taken from it as they have landed, until those that are left are let go. */
export class Flight {
  #all: readonly PlacedDelivery[]
  readonly #hasLanded: boolean[]
  readonly #goingOn = new Map<number, (attempt: FinishedAttempt) => void>()
  /** What could not even be sent: a mistake of ours, which comes out where the event is by itself. */
  readonly unsent: PlacedDelivery[] = []
  #landed: Landed[] = []
  #left: number
  #onEmpty: (() => void) | undefined

  /** Gives the place of each back when it has landed. */
  constructor(all: readonly PlacedDelivery[], sendMessage: SendMessage) {
    this.#all = all
    this.#left = all.length
    this.#hasLanded = all.map(() => false)
    all.forEach((placed, index) => {
      const { delivery, webhook, message } = placed
      try {
        sendMessage(delivery, webhook, message, (attempt) => this.#land(placed, index, attempt))
      } catch {
        if (this.#hasLanded[index] === true) return
        this.#leave(placed, index)
        this.unsent.push(placed)
      }
    })
  }

  /** Those that have landed when all have, or after so long. */
  async takeLanded(withinMs: number): Promise<readonly Landed[]> {
    if (this.#left > 0) await this.#empty(withinMs)
    return this.#landed.splice(0)
  }

  /** Those that are left, each with its end. */
  letGo(): { placed: PlacedDelivery; landing: Promise<FinishedAttempt> }[] {
    const all = this.#all
    // One that takes long keeps nothing of the others.
    this.#all = []
    const justLanded = this.#landed
      .splice(0)
      .map(({ placed, attempt }) => ({ placed, landing: Promise.resolve(attempt) }))
    const flying = all.flatMap((placed, index) => {
      if (this.#hasLanded[index] === true) return []
      const { promise: landing, resolve } = Promise.withResolvers<FinishedAttempt>()
      this.#goingOn.set(index, resolve)
      return [{ placed, landing }]
    })
    return [...justLanded, ...flying]
  }

  #land(placed: PlacedDelivery, index: number, attempt: FinishedAttempt): void {
    if (this.#hasLanded[index] === true) return
    this.#leave(placed, index)
    const goOn = this.#goingOn.get(index)
    if (goOn === undefined) this.#landed.push({ placed, attempt })
    else goOn(attempt)
    if (this.#left === 0) this.#onEmpty?.()
  }

  #leave({ release }: PlacedDelivery, index: number): void {
    release()
    this.#hasLanded[index] = true
    this.#left--
  }

  #empty(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      // An answer that has come and was not read yet is read before the immediate: a busy process does not blame receivers.
      const timer = setTimeout(() => setImmediate(resolve), withinMs)
      this.#onEmpty = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
