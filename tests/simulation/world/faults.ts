import type { SimProcess } from './sim-process.ts'
import type { Random } from './random.ts'

export type Target = 'postgres' | 'kafka' | 'registry'
export type Disposition = 'well' | 'refused' | 'unanswered' | 'dies_before' | 'dies_after'

/** How unkind a seed is. Each seed draws its own: some have one kind of fault only, and few have none. */
export interface Unkindness {
  /** Of a request: that it fails before it has an effect, or after. */
  failing: number
  /** Of a request: that its asker dies at it. */
  dying: number
  /** Of a request: that it takes up to a second. */
  slow: number
  /** Of a record sent: that it is written twice. */
  repeating: number
  /** Stops (SIGSTOP), orderly restarts and outages of a seed. */
  stops: number
  restarts: number
  outages: number
}

interface FaultyWorld {
  readonly nowMs: number
  readonly random: Random
  tell(what: () => string): void
}

/** Deaths of a seed: more would dead-letter records that had the bad luck to be under way at three of them. */
const maxDeaths = 10

export class Faults {
  readonly unkindness: Unkindness
  deaths = 0
  /** From here on nothing fails: what is left must come to its end. */
  isOver = false
  readonly #world: FaultyWorld
  readonly #awayUntilMs = new Map<Target, number>()

  constructor(world: FaultyWorld) {
    this.#world = world
    this.unkindness = drawUnkindness(world)
  }

  latencyMs(): number {
    const { random } = this.#world
    if (!this.isOver && random.chance(this.unkindness.slow)) return random.between(20, 1_000)
    return random.between(0.2, 6)
  }

  takeAway(target: Target, forMs: number): void {
    this.#world.tell(() => `${target} away for ${Math.round(forMs)} ms`)
    this.#awayUntilMs.set(target, this.#world.nowMs + forMs)
  }

  isAway(target: Target): boolean {
    return !this.isOver && (this.#awayUntilMs.get(target) ?? 0) > this.#world.nowMs
  }

  dispositionOf(target: Target, asker: SimProcess | null): Disposition {
    if (this.isOver) return 'well'
    if (this.isAway(target)) return 'refused'
    const { random } = this.#world
    const { failing, dying } = this.unkindness
    const drawn = random.next()
    if (drawn < failing) return random.chance(0.5) ? 'refused' : 'unanswered'
    if (drawn > failing + dying || asker?.isAlive !== true || this.deaths >= maxDeaths) return 'well'
    this.deaths++
    return random.chance(0.5) ? 'dies_before' : 'dies_after'
  }
}

function drawUnkindness({ random }: FaultyWorld): Unkindness {
  const maybe = (most: number) => (random.chance(0.6) ? random.between(0, most) : 0)
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
