import type { RedteamTransformation } from '#schemas/redteam-run.ts'
import { hashedId, idTimeMs } from '#schemas/ids.ts'
import type { OwaspCategory } from '#schemas/verdicts.ts'
import { seededRandom, shuffled } from '../attacks/seeded-random.ts'
import { countTurns } from '../attacks/transformations.ts'
import type { Probe } from '../probes/probe.ts'

/** One attack of a run. Its identity is fixed before the first try. */
export interface PlannedAttempt {
  number: number
  requestId: string
  probeId: string
  category: OwaspCategory
  scorer: string
  judgedBy: readonly string[]
  transformation: RedteamTransformation
  repeat: number
  /** Turns before the last, each recorded as a request of its own: planned, and the maximum. */
  earlierTurns: number
}

export interface PlanOrder {
  runId: string
  seed: string
  /** Ids, categories (`LLM01`), scorers, or prefixes of ids; empty: all. */
  select: readonly string[]
  transformations: readonly RedteamTransformation[]
  repeats: number
  limit: number | undefined
}

/**
 * Every chosen probe in every transformation, repeated as asked, in an order by the seed. Categories take
 * turns, so a run that is limited or stopped early covers each.
 */
export function planAttempts(order: PlanOrder, probes: Iterable<Probe>): PlannedAttempt[] {
  const { runId, seed, transformations, repeats } = order
  const chosen = Array.from(probes).filter((probe) => isSelected(probe, order.select))
  const all = chosen.flatMap((probe) =>
    transformations.flatMap((transformation) =>
      Array.from({ length: repeats }, (_unused, repeat) => ({ probe, transformation, repeat })),
    ),
  )
  const byCategory = Map.groupBy(shuffled(seededRandom(seed, 'order'), all), ({ probe }) => probe.category)
  const lines = [...byCategory].sort(([left], [right]) => left.localeCompare(right)).map(([, line]) => line)
  const longest = Math.max(0, ...lines.map(({ length }) => length))
  const inTurns = Array.from({ length: longest }, (_unused, at) =>
    lines.flatMap((line) => line[at] ?? []),
  ).flat()
  return inTurns.slice(0, order.limit).map(({ probe, transformation, repeat }, number) => ({
    number,
    requestId: attemptRequestId(runId, [probe.id, transformation, String(repeat)]),
    probeId: probe.id,
    category: probe.category,
    scorer: probe.scorer,
    judgedBy: probe.judged_by,
    transformation,
    repeat,
    earlierTurns: countTurns(probe.turns, transformation) - 1,
  }))
}

/**
 * The same for the same attempt of a run in every process. It has the time of the run, and is stored once.
 */
export function attemptRequestId(runId: string, parts: readonly string[]): string {
  return hashedId('request', idTimeMs(runId), ['redteam', runId, ...parts])
}

function isSelected({ id, category, scorer }: Probe, select: readonly string[]): boolean {
  return (
    select.length === 0 ||
    select.some((word) => word === category || word === scorer || id === word || id.startsWith(`${word}.`))
  )
}
