import type { CuttableLine } from '../../../support/cuttable-line.ts'
import { brokerNumbers } from '../fixture/roster.ts'
import type { Fixture } from '../fixture/start-fixture.ts'
import type { Fault } from './fault.ts'

type Worsen = (line: CuttableLine) => void

const cut: Worsen = (line) => line.cut()
const stall: Worsen = (line) => line.stall()
const slow: Worsen = (line) => line.slow(150)
const reset: Worsen = (line) => line.reset()

interface LineFault extends Pick<Fault, 'kind' | 'lastsMs'> {
  worsen: Worsen
}

function faultsOf(
  place: Pick<Fault, 'targets'> & {
    held: string
    lineOf: (fixture: Fixture, target: string) => CuttableLine | undefined
  },
  kinds: readonly LineFault[],
): Fault[] {
  return kinds.map(({ worsen, ...shape }) => ({
    ...shape,
    targets: place.targets,
    holds: () => [place.held],
    begin: (fixture, target) => {
      const line = place.lineOf(fixture, target)
      if (line === undefined) throw new Error(`${target} has no line`)
      worsen(line)
      return Promise.resolve(() => line.mend())
    },
  }))
}

/** Between clients and a broker, which stays leader: its peers reach it. */
export const brokerLines = faultsOf(
  {
    targets: brokerNumbers,
    held: 'brokers',
    lineOf: ({ parts }, target) => parts.brokerLines[Number(target) - 1],
  },
  [
    { kind: 'cut-broker', worsen: cut, lastsMs: [2_000, 20_000] },
    { kind: 'stall-broker', worsen: stall, lastsMs: [2_000, 20_000] },
    { kind: 'slow-broker', worsen: slow, lastsMs: [5_000, 15_000] },
    { kind: 'reset-broker', worsen: reset, lastsMs: [0, 0] },
  ],
)

export const registryLine = faultsOf(
  { targets: ['registry'], held: 'registry', lineOf: ({ parts }) => parts.registryLine },
  [
    { kind: 'cut-registry', worsen: cut, lastsMs: [5_000, 40_000] },
    { kind: 'stall-registry', worsen: stall, lastsMs: [5_000, 20_000] },
  ],
)

export const postgresLine = faultsOf(
  { targets: ['postgres'], held: 'postgres', lineOf: ({ parts }) => parts.postgres.line },
  [
    { kind: 'cut-postgres', worsen: cut, lastsMs: [2_000, 15_000] },
    { kind: 'stall-postgres', worsen: stall, lastsMs: [2_000, 15_000] },
    { kind: 'reset-postgres', worsen: reset, lastsMs: [0, 0] },
  ],
)

/** Calls are not judged later: without proof by a detector they are unscored, with the reason. */
export const judgeLine = faultsOf(
  { targets: ['judge'], held: 'judge', lineOf: ({ parts }) => parts.judgeLine },
  [
    { kind: 'cut-judge', worsen: cut, lastsMs: [5_000, 30_000] },
    { kind: 'stall-judge', worsen: stall, lastsMs: [5_000, 20_000] },
  ],
)
