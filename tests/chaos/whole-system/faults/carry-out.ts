import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '#runtime/errors.ts'
import type { PlannedFault } from '../schedule/plan-faults.ts'
import type { Fixture } from '../fixture/start-fixture.ts'
import type { Fault } from './fault.ts'

/** The course of a fault, in milliseconds since the start of the run. */
export interface FaultRecord {
  kind: string
  target: string
  beganMs: number
  /** When its inverse started. */
  endedMs: number
  /** When the target worked again. */
  recoveredMs: number
}

export interface CarryingOut {
  fixture: Fixture
  faults: readonly Fault[]
  /** `performance.now()` at the start. */
  startedMs: number
  say: (line: string) => void
}

/**
 * A fault is skipped if others still hold its targets after this: faults would pile up behind slow
 * recoveries.
 */
const latestMs = 15_000

export interface CarriedOut {
  records: FaultRecord[]
  leftOut: number
}

/**
 * Runs each fault at its time, or later when its targets are free. At the end, rejects if a fault failed to
 * start or to be undone.
 */
export async function carryOut(planned: readonly PlannedFault[], carrying: CarryingOut): Promise<CarriedOut> {
  const { fixture, faults, startedMs, say } = carrying
  const now = () => Math.round(performance.now() - startedMs)
  const free = new Map<string, Promise<unknown>>()
  const records: FaultRecord[] = []
  let leftOut = 0
  const one = async ({ kind, target, atMs, forMs }: PlannedFault) => {
    const fault = faults.find((each) => each.kind === kind)
    if (fault === undefined) throw new Error(`there is no fault ${kind}`)
    const beganMs = now()
    if (beganMs > atMs + latestMs) {
      leftOut++
      return
    }
    say(`${kind} ${target}`)
    const undo = await fault.begin(fixture, target)
    await sleep(forMs)
    const endedMs = now()
    await undo()
    const record = { kind, target, beganMs, endedMs, recoveredMs: now() }
    records.push(record)
    say(`${kind} ${target} is over, after ${record.recoveredMs - endedMs} ms`)
  }
  const problems: string[] = []
  await Promise.all(
    planned.map(async (fault) => {
      await sleep(Math.max(0, fault.atMs - now()))
      const before = Promise.all(fault.holds.map((held) => free.get(held) ?? Promise.resolve()))
      const done = before
        .then(() => one(fault))
        .catch((error: unknown) => void problems.push(`${fault.kind} ${fault.target}: ${messageOf(error)}`))
      for (const held of fault.holds) free.set(held, done)
      await done
    }),
  )
  if (problems.length > 0)
    throw new Error(`faults that failed to start or to be undone:\n${problems.join('\n')}`)
  return { records: records.sort((a, b) => a.beganMs - b.beganMs), leftOut }
}
