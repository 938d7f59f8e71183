import { createRandom } from '../world/random.ts'
import { beginningMs } from '../world/world.ts'
import { checkFindings } from './check-findings.ts'
import { createPeople } from './people.ts'
import { createSinks } from './sinks.ts'
import { createUpkeep } from './upkeep.ts'
import { createFindingContext } from './finding-context.ts'

const steps = 60
const [hourMs, secondMs] = [3_600_000, 1_000]

/**
 * Plays a history of one project's findings: sinks that get records again and lose transactions, people,
 * promotions and erasures. After each step everything has to equal the documented state machine and a
 * recount. Returns the problems, and what was there at the end.
 */
export async function playFindings(
  seed: number,
  note: (line: string) => void,
): Promise<{ failures: string[]; did: { findings: number; standings: number; counted: number } }> {
  const context = createFindingContext(createRandom(seed ^ 0x51_5e_ed))
  const { random, tables, expected, liveRunUuid } = context
  const sinks = createSinks(context)
  const people = createPeople(context)
  const upkeep = createUpkeep(context)
  const actions: [number, string, () => Promise<unknown>][] = [
    [0.55, 'sink', sinks.deliver],
    [0.2, 'change', people.change],
    [0.1, 'undo', people.undo],
    [0.03, 'owners', people.changeOwners],
    [0.06, 'promote', upkeep.promote],
    [0.06, 'erase', upkeep.erase],
  ]
  for (let step = 0; step < steps; step++) {
    context.nowMs += random.below(random.chance(0.1) ? 2 * hourMs : secondMs)
    const chosen = pick(actions, random.next())
    note(`findings: ${((context.nowMs - beginningMs) / 1_000).toFixed(1)} ${chosen[1]}`)
    await chosen[2]()
    context.failures.push(...checkFindings(tables, expected, liveRunUuid))
    if (context.failures.length === 0) continue
    context.failures.unshift(`findings: wrong after step ${step}, ${chosen[1]}`)
    break
  }
  return {
    failures: context.failures,
    did: { findings: tables.findings.size, standings: tables.changes.size, counted: expected.ofScore.size },
  }
}

function pick<T extends [number, ...unknown[]]>(from: readonly T[], at: number): T {
  let left = at
  for (const one of from) {
    left -= one[0]
    if (left < 0) return one
  }
  return from.at(-1) as T
}
