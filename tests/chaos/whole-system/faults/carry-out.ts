import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '#runtime/errors.ts'
import type { PlannedFault } from '../schedule/plan-faults.ts'
import type { Fixture } from '../fixture/start-fixture.ts'
import type { Fault } from './fault.ts'

/** What became of a planned fault, in milliseconds from the beginning of the run. */
export interface FaultRecord {
  kind: string
  target: string
  beganMs: number
  /** When its inverse began. */
  endedMs: number
  /** When what it struck worked again. */
  recoveredMs: number
}

export interface CarryingOut {
  fixture: Fixture
  faults: readonly Fault[]
  /** `performance.now()` of the beginning. */
  startedMs: number
  say: (line: string) => void
}

/** What others still hold for so long, because they took longer to recover from than planned, is not waited for: faults would pile up. */
const latestMs = 15_000

export interface CarriedOut {
  records: FaultRecord[]
  leftOut: number
}

/** Carries out each fault at its time, or a little later when what it needs has been let go. Rejects after all when one could not be done or undone. */
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
  if (problems.length > 0) throw new Error(`faults that could not be done or undone:\n${problems.join('\n')}`)
  return { records: records.sort((a, b) => a.beganMs - b.beganMs), leftOut }
}
