import { expect, test } from '@jest/globals'
import { planFaults, type FaultShape, type PlannedFault } from './plan-faults.ts'

const shapes: FaultShape[] = [
  { kind: 'kill', targets: ['a', 'b', 'c'], lastsMs: [0, 0], holds: (target) => [target] },
  { kind: 'pause', targets: ['a', 'b', 'c'], lastsMs: [2_000, 15_000], holds: (target) => [target] },
  { kind: 'broker', targets: ['1', '2', '3'], lastsMs: [3_000, 20_000], holds: () => ['brokers'] },
  { kind: 'all', targets: ['all'], lastsMs: [20_000, 20_000], holds: () => ['a', 'b', 'c'] },
  { kind: 'once', targets: ['database'], lastsMs: [0, 0], holds: () => ['database'], atMost: 1 },
]
const plan = { shapes, lastsMs: 600_000, atOnce: 2, everyMs: 6_000, restMs: 4_000 }
const seeds = Array.from({ length: 20 }, (_, index) => index + 1)

/** Pairs in which the first ends, with its rest, after the second has started. */
function overlapping(planned: readonly PlannedFault[], restMs: number): [PlannedFault, PlannedFault][] {
  return planned.flatMap((one, index) =>
    planned
      .slice(index + 1)
      .filter((other) => other.atMs < one.atMs + one.forMs + restMs)
      .map((other): [PlannedFault, PlannedFault] => [one, other]),
  )
}

test('a seed gives the same plan again, another seed a different one', () => {
  expect(planFaults({ ...plan, seed: 7 })).toEqual(planFaults({ ...plan, seed: 7 }))
  expect(planFaults({ ...plan, seed: 7 })).not.toEqual(planFaults({ ...plan, seed: 8 }))
})

test.each(seeds)(
  'seed %i: in order, over in time, no more at once than allowed, nothing held twice',
  (seed) => {
    const planned = planFaults({ ...plan, seed })
    expect(planned.map(({ atMs }) => atMs)).toEqual(planned.map(({ atMs }) => atMs).sort((a, b) => a - b))
    for (const { atMs, forMs } of planned) expect(atMs + forMs).toBeLessThanOrEqual(plan.lastsMs)
    for (const one of planned) {
      const before = planned
        .slice(0, planned.indexOf(one))
        .filter(({ atMs, forMs }) => atMs + forMs > one.atMs)
      expect(before.length).toBeLessThan(plan.atOnce)
    }
    const together = overlapping(planned, plan.restMs).filter(([one, other]) =>
      one.holds.some((held) => other.holds.includes(held)),
    )
    expect(together).toEqual([])
  },
)

test.each(seeds)('seed %i: every kind occurs, and kinds with a maximum of one occur once', (seed) => {
  const counts = Map.groupBy(planFaults({ ...plan, seed }), ({ kind }) => kind)
  expect([...counts.keys()].sort()).toEqual(['all', 'broker', 'kill', 'once', 'pause'])
  expect(counts.get('once')).toHaveLength(1)
})

test('no faults without time for one', () => {
  expect(planFaults({ ...plan, seed: 1, lastsMs: 1_000 })).toEqual([])
})
