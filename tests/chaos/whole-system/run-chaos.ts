import { setTimeout as sleep } from 'node:timers/promises'
import { carryOut, type FaultRecord } from './faults/carry-out.ts'
import type { Fault } from './faults/fault.ts'
import { awaitRest } from './ledger/await-rest.ts'
import { compareLedgers, type Finding } from './ledger/compare-ledgers.ts'
import { readDelays, type Delays } from './ledger/read-delays.ts'
import { readFound } from './ledger/read-found.ts'
import { startCalling } from './load/keep-calling.ts'
import { planFaults } from './schedule/plan-faults.ts'
import { startFixture, type Fixture } from './fixture/start-fixture.ts'

export interface ChaosOptions {
  seed: number
  /** Duration of calls and faults. */
  lastsMs: number
  callsPerSecond: number
  faults: readonly Fault[]
  directory: string
  registryUrl: string | undefined
  say: (line: string) => void
}

export interface ChaosResult {
  findings: readonly Finding[]
  faults: readonly FaultRecord[]
  /** Planned faults that were skipped because others were in the way. */
  leftOut: number
  /** By way and end. */
  calls: Readonly<Record<string, number>>
  /** Losses that gateways count. */
  lost: number
  delays: Delays
  /** From the last answer until nothing was under way. */
  restMs: number
  /** Restarts per process, ordered or not. */
  restarts: Readonly<Record<string, number>>
}

const schedule = { atOnce: 2, everyMs: 6_000, restMs: 4_000 }
/** Longer than kafkajs uses old metadata after partitions were added (5 min). */
const restWithinMs = 420_000
/** Share of the limited project's calls that fits its limit. */
const fitting = 0.6
const limitedShare = 0.2

/**
 * Starts the system, calls it while faults follow the seed's schedule, waits for rest, and compares the state
 * with what clients know.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { seed, lastsMs, callsPerSecond, directory, registryUrl, say } = options
  const room = Math.max(5, Math.round((lastsMs / 1_000) * callsPerSecond * limitedShare * fitting))
  const fixture = await startFixture({ directory, registryUrl, room, say })
  try {
    if (fixture.disks === null) say('no disk can be mounted here: fill-disk is skipped')
    const faults = options.faults.filter(({ kind }) => kind !== 'fill-disk' || fixture.disks !== null)
    const planned = planFaults({ ...schedule, seed, shapes: faults, lastsMs })
    const startedMs = performance.now()
    const clock = () => `${((performance.now() - startedMs) / 1_000).toFixed(1).padStart(7)} s  `
    const calling = startCalling({ fixture, seed, callsPerSecond })
    const sayAt = (line: string) => say(clock() + line)
    const [{ records, leftOut }] = await Promise.all([
      carryOut(planned, { fixture, faults, startedMs, say: sayAt }),
      sleep(lastsMs),
    ])
    await calling.stop()
    sayAt(`${calling.calls.length} calls; waiting for everything to come to rest`)
    const rest = await awaitRest(fixture, restWithinMs)
    const { calls, problems } = calling
    const left = { leftOver: rest.leftOver, lost: await fixture.losses.total() }
    const findings = compareLedgers({ calls, problems, ...left, ...(await readFound(fixture, room)) })
    return {
      findings,
      faults: records,
      leftOut,
      lost: left.lost,
      calls: countBy(calls.map(({ way, end }) => `${way} ${end}`)),
      delays: await readDelays(fixture.parts.postgres.url),
      restMs: rest.tookMs,
      restarts: restartsOf(fixture),
    }
  } finally {
    await fixture.stop()
  }
}

function restartsOf({ services }: Fixture): Record<string, number> {
  return Object.fromEntries([...services].map(([name, service]) => [name, service.restarts()]))
}

function countBy(names: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]))
}
