import { builtInScorers, type BuiltInScorer } from '#schemas/verdicts.ts'
import type { Row } from './evaluate.ts'

/** What is not measured yet. A new scorer comes with samples of both kinds instead. */
export const knownGaps: Readonly<Partial<Record<BuiltInScorer, string>>> = {
  supply_chain: 'safe samples only: nothing is known of what it finds',
  unbounded_consumption: 'no labelled data',
}

/** What the rows do not measure of each scorer, for lack of safe or unsafe samples. */
export function listGaps(
  rows: readonly Pick<Row, 'scorer' | 'n' | 'positives'>[],
  only?: BuiltInScorer,
): { scorer: BuiltInScorer; missing: string }[] {
  return builtInScorers
    .filter((scorer) => only === undefined || scorer === only)
    .flatMap((scorer) => {
      const own = rows.filter((row) => row.scorer === scorer)
      const hasUnsafe = own.some(({ positives }) => positives > 0)
      const hasSafe = own.some(({ n, positives }) => n > positives)
      if (hasUnsafe && hasSafe) return []
      if (hasUnsafe) return [{ scorer, missing: 'unsafe samples only: nothing is known of false positives' }]
      if (hasSafe) return [{ scorer, missing: 'safe samples only: nothing is known of what it finds' }]
      return [{ scorer, missing: 'no labelled data' }]
    })
}
