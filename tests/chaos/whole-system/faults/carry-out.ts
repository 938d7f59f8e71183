import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '#runtime/errors.ts'
import type { PlannedFault } from '../schedule/plan-faults.ts'
import type { Stage } from '../stage/start-stage.ts'
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
  stage: Stage
  faults: readonly Fault[]
  /** `performance.now()` of the beginning. */
  startedMs: number
  /** What cannot begin by then, because others took longer to recover from than planned, is left out. */
  lastsMs: number
  say: (line: string) => void
}

/** Carries out each fault at its time, or as soon as what it needs has been let go. Rejects after all when one could not be done or undone. */
export async function carryOut(
  planned: readonly PlannedFault[],
  carrying: CarryingOut,
): Promise<FaultRecord[]> {
  const { stage, faults, startedMs, lastsMs, say } = carrying
  const now = () => Math.round(performance.now() - startedMs)
  const free = new Map<string, Promise<unknown>>()
  const records: FaultRecord[] = []
  const one = async ({ kind, target, forMs }: PlannedFault) => {
    const fault = faults.find((each) => each.kind === kind)
    if (fault === undefined) throw new Error(`there is no fault ${kind}`)
    const beganMs = now()
    if (beganMs > lastsMs) {
      say(`${kind} ${target} is left out: too late`)
      return
    }
    say(`${kind} ${target}`)
    const undo = await fault.begin(stage, target)
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
  return records.sort((a, b) => a.beganMs - b.beganMs)
}
