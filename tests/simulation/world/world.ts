import { Faults, type Disposition } from './faults.ts'
import { EventQueue, type PlannedEvent } from './event-queue.ts'
import { createRandom, type Random } from './random.ts'
import type { SimProcess } from './sim-process.ts'

const realImmediate = setImmediate

/** Start time of every simulation. */
export const beginningMs = Date.UTC(2026, 10, 21, 10)

/** One request of a process to something outside it. */
export interface Request<T> {
  /** Its target; an outage affects one of these. */
  target: 'postgres' | 'kafka'
  /** Happens at one instant, atomically. */
  effect: () => T
  /** The caller's error if no answer comes. */
  failure: () => Error
  /** False: never fails or kills by chance (offset look-ups and similar, which the real client retries). */
  isRisky?: boolean
  /** Requests of one connection arrive in the order in which they were sent. */
  connection?: Connection
}

export interface Connection {
  arrivedMs: number
}

/**
 * Time, chance and processes of one seed. All events are put into one order, so a seed always gives the same
 * history. All promises settle between two events, and only here does time pass.
 */
export class World {
  nowMs = beginningMs
  readonly random: Random
  readonly faults: Faults
  /** The history, for debugging a seed. */
  readonly history: string[] = []
  readonly #events = new EventQueue()
  #current: SimProcess | null = null
  readonly #isVerbose: boolean
  readonly #reactions = new Map<SimProcess, () => void>()
  #planned = 0
  happened = 0
  /** Processes that died by chance: each may leave a crash mark. */
  losses = 0

  constructor(seed: number, isVerbose: boolean) {
    this.random = createRandom(seed)
    this.faults = new Faults(this)
    this.#isVerbose = isVerbose
  }

  /**
   * The process whose code is running. Everything that an event causes before the next event belongs to its
   * process.
   */
  get current(): SimProcess | null {
    return this.#current
  }

  after(delayMs: number, run: () => void, owner: SimProcess | null = this.current): PlannedEvent {
    const event = { atMs: this.nowMs + delayMs, order: this.#planned++, owner, run }
    this.#events.add(event)
    return event
  }

  note(what: () => string): void {
    if (!this.#isVerbose) return
    const at = ((this.nowMs - beginningMs) / 1_000).toFixed(3)
    this.history.push(`${at} ${this.current?.name ?? '-'} ${what()}`)
  }

  onKilled(process: SimProcess, react: () => void): void {
    this.#reactions.set(process, react)
  }

  /** `isLoss`: the process died by chance, not by its own code or in order. */
  kill(process: SimProcess, why: string, isLoss = true): void {
    if (!process.isAlive) return
    this.note(() => `kill ${process.name}: ${why}`)
    process.isAlive = false
    if (isLoss) this.losses++
    this.#reactions.get(process)?.()
    this.#reactions.delete(process)
  }

  /**
   * The effect happens at one instant between request and answer. The caller may die before or after it, or
   * see a failure although it happened. A request in transit when its caller dies may still arrive.
   */
  request<T>({ target, effect, failure, isRisky = true, connection }: Request<T>): Promise<T> {
    const caller = this.current
    const { random, faults } = this
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const answer = (callback: () => void) => this.after(faults.latencyMs(), callback, caller)
    const takeEffect = (disposition: Disposition) => {
      let value: T
      try {
        value = effect()
      } catch (error) {
        answer(() => reject(error))
        return
      }
      if (disposition === 'dies_after' && caller !== null) this.kill(caller, `after its ${target} request`)
      else if (disposition === 'unanswered') answer(() => reject(failure()))
      else answer(() => resolve(value))
    }
    const arrive = () => {
      if (caller?.isAlive === false && random.chance(0.5)) return
      const disposition = isRisky ? faults.dispositionOf(target, caller) : 'well'
      if (disposition === 'dies_before' && caller !== null) this.kill(caller, `before its ${target} request`)
      else if (disposition === 'refused') answer(() => reject(failure()))
      else takeEffect(disposition)
    }
    const arrivesMs = Math.max(this.nowMs + faults.latencyMs(), connection?.arrivedMs ?? 0)
    if (connection !== undefined) connection.arrivedMs = arrivesMs
    this.after(arrivesMs - this.nowMs, arrive, null)
    return promise
  }

  /**
   * Runs events until `isOver`, until none is left, or until the time is up. Resolves to whether it is over.
   */
  async run(isOver: () => boolean, untilMs: number): Promise<boolean> {
    await settle()
    while (!isOver()) {
      const next = this.#events.takeFirst()
      if (next === undefined) return false
      if (next.atMs > untilMs) {
        this.#events.add(next)
        return false
      }
      const { owner, run } = next
      if (run === null || owner?.isAlive === false) continue
      if (owner !== null && owner.stoppedUntilMs > next.atMs) {
        this.#events.add({ ...next, atMs: owner.stoppedUntilMs })
        continue
      }
      this.nowMs = Math.max(this.nowMs, next.atMs)
      this.happened++
      this.#current = owner
      run()
      await settle()
      this.#current = null
    }
    return true
  }
}

/** Resolves when nothing more can run without time passing: all settled promises have run their callbacks. */
function settle(): Promise<void> {
  return new Promise((resolve) => realImmediate(resolve))
}
