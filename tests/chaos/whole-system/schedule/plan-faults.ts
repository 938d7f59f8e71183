import { createRandom, type Random } from '../../../simulation/world/random.ts'

/** A kind of fault, as the schedule sees it. */
export interface FaultShape {
  kind: string
  /** Possible targets; one is drawn. */
  targets: readonly string[]
  /** Shortest and longest duration; twice 0: instantaneous. */
  lastsMs: readonly [number, number]
  /** Exclusive resources: no other fault that holds one of them overlaps, nor within `restMs` after. */
  holds: (target: string) => readonly string[]
  /** Maximum per run; absent: no limit. */
  atMost?: number
  /** Relative frequency; absent: 1. */
  weight?: number
}

export interface PlannedFault {
  kind: string
  target: string
  holds: readonly string[]
  /** Since the start of the run. */
  atMs: number
  forMs: number
}

export interface Plan {
  seed: number
  shapes: readonly FaultShape[]
  /** Every fault ends by then. */
  lastsMs: number
  /** Concurrent faults. */
  atOnce: number
  /** Average time between the starts of two faults. */
  everyMs: number
  /** Pause before a resource is held again. */
  restMs: number
}

const firstAtMs = 2_000
/** After this many draws nothing fits at this time. */
const maxDraws = 40

/** The faults of a run, in order. Reproducible by seed. */
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

/** Draws every kind by its weight before repeating, as far as they fit. */
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
