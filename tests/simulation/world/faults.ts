import type { SimProcess } from './sim-process.ts'
import type { Random } from './random.ts'

export type Target = 'postgres' | 'kafka' | 'registry'
export type Disposition = 'well' | 'refused' | 'unanswered' | 'dies_before' | 'dies_after'

/** How hostile a seed is, drawn for each seed: some have one kind of fault, few have none. */
export interface FaultRates {
  /** Probability that a request fails, before or after its effect. */
  failing: number
  /** Probability that the caller dies during a request. */
  dying: number
  /** Probability that a request takes up to a second. */
  slow: number
  /** Probability that a sent record is written twice. */
  repeating: number
  /** Pauses (SIGSTOP), orderly restarts and outages in a seed. */
  stops: number
  restarts: number
  outages: number
}

interface FaultyWorld {
  readonly nowMs: number
  readonly random: Random
  note(what: () => string): void
}

/** Maximum of deaths: more would dead-letter harmless records that are in progress at three of them. */
const maxDeaths = 10

export class Faults {
  readonly rates: FaultRates
  deaths = 0
  /** From now on nothing fails, so that everything can finish. */
  isOver = false
  readonly #world: FaultyWorld
  readonly #awayUntilMs = new Map<Target, number>()

  constructor(world: FaultyWorld) {
    this.#world = world
    this.rates = drawRates(world)
  }

  latencyMs(): number {
    const { random } = this.#world
    if (!this.isOver && random.chance(this.rates.slow)) return random.between(20, 1_000)
    return random.between(0.2, 6)
  }

  takeAway(target: Target, forMs: number): void {
    this.#world.note(() => `${target} away for ${Math.round(forMs)} ms`)
    this.#awayUntilMs.set(target, this.#world.nowMs + forMs)
  }

  isAway(target: Target): boolean {
    return !this.isOver && (this.#awayUntilMs.get(target) ?? 0) > this.#world.nowMs
  }

  dispositionOf(target: Target, caller: SimProcess | null): Disposition {
    if (this.isOver) return 'well'
    if (this.isAway(target)) return 'refused'
    const { random } = this.#world
    const { failing, dying } = this.rates
    const drawn = random.next()
    if (drawn < failing) return random.chance(0.5) ? 'refused' : 'unanswered'
    if (drawn > failing + dying || caller?.isAlive !== true || this.deaths >= maxDeaths) return 'well'
    this.deaths++
    return random.chance(0.5) ? 'dies_before' : 'dies_after'
  }
}

function drawRates({ random }: FaultyWorld): FaultRates {
  const maybe = (max: number) => (random.chance(0.6) ? random.between(0, max) : 0)
  return {
    failing: maybe(0.08),
    dying: maybe(0.03),
    slow: maybe(0.15),
    repeating: maybe(0.1),
    stops: Math.round(maybe(3)),
    restarts: Math.round(maybe(3)),
    outages: Math.round(maybe(3)),
  }
}
