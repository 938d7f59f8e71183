import { createRandom, type Random } from '../../../simulation/world/random.ts'

/** What a kind of fault looks like to the schedule. */
export interface FaultShape {
  kind: string
  /** What it can strike; one is drawn. */
  targets: readonly string[]
  /** Shortest and longest; twice 0: it is over at once. */
  lastsMs: readonly [number, number]
  /** What it has to itself: no other fault that holds the same is under way, nor for `restMs` after. */
  holds: (target: string) => readonly string[]
  /** How often in a run at most; absent: as often as there is time for. */
  atMost?: number
  /** How often it comes for each time that others do; absent: 1. */
  weight?: number
}

export interface PlannedFault {
  kind: string
  target: string
  holds: readonly string[]
  /** From the beginning of the run. */
  atMs: number
  forMs: number
}

export interface Plan {
  seed: number
  shapes: readonly FaultShape[]
  /** Every fault is over by then. */
  lastsMs: number
  /** Faults under way together. */
  atOnce: number
  /** From the beginning of one fault to that of the next, on average. */
  everyMs: number
  /** What a fault has held is left alone so long. */
  restMs: number
}

const firstAtMs = 2_000
/** Then nothing fits at this time. */
const maxDraws = 40

/** The faults of a run, in order. The same for the same seed. */
export function planFaults(plan: Plan): PlannedFault[] {
  const { seed, shapes, lastsMs, everyMs } = plan
  const random = createRandom(seed)
  const planned: PlannedFault[] = []
  const bag = createBag(shapes, random)
  for (let atMs = firstAtMs; atMs < lastsMs; atMs += random.between(0.6, 1.4) * everyMs) {
    for (let draw = 0; draw < maxDraws; draw++) {
      const shape = bag.draw()
      if (shape === undefined) return planned
      const fault = drawFault(shape, atMs, random)
      if (fits(fault, planned, plan)) {
        planned.push(fault)
        bag.used(shape)
        break
      }
      bag.putBack(shape)
    }
  }
  return planned
}

function drawFault(
  { kind, targets, lastsMs: [shortest, longest], holds }: FaultShape,
  atMs: number,
  random: Random,
): PlannedFault {
  const target = random.pick(targets)
  const forMs = Math.round(random.between(shortest, longest))
  return { kind, target, holds: holds(target), atMs: Math.round(atMs), forMs }
}

function fits(
  fault: PlannedFault,
  planned: readonly PlannedFault[],
  { lastsMs, atOnce, restMs }: Plan,
): boolean {
  if (fault.atMs + fault.forMs > lastsMs) return false
  const underWay = planned.filter(({ atMs, forMs }) => atMs + forMs > fault.atMs)
  if (underWay.length >= atOnce) return false
  return !planned.some(
    ({ atMs, forMs, holds }) =>
      atMs + forMs + restMs > fault.atMs && holds.some((held) => fault.holds.includes(held)),
  )
}

/** Every kind comes as often as it weighs before any comes again, as far as they fit. */
function createBag(shapes: readonly FaultShape[], random: Random) {
  const uses = new Map(shapes.map((shape) => [shape, 0]))
  let waiting: FaultShape[] = []
  const refill = () =>
    shapes
      .filter((shape) => (uses.get(shape) ?? 0) < (shape.atMost ?? Infinity))
      .flatMap((shape) => Array.from({ length: shape.weight ?? 1 }, () => ({ shape, place: random.next() })))
      .sort((a, b) => a.place - b.place)
      .map(({ shape }) => shape)
  return {
    draw: () => {
      if (waiting.length === 0) waiting = refill()
      return waiting.shift()
    },
    used: (shape: FaultShape) => uses.set(shape, (uses.get(shape) ?? 0) + 1),
    putBack: (shape: FaultShape) => waiting.push(shape),
  }
}
