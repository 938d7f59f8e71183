import type { JudgeMaterial } from './judge-prompt.ts'
import type { Rubric } from './rubric.ts'

/** `evidence`: rubrics that need the same evidence share a request; `separate`: one request each. */
export const groupings = ['evidence', 'separate'] as const
export type Grouping = (typeof groupings)[number]

/** Each rubric adds about 100 tokens to the answer; more would take too long. */
const maxRubricsOfGroup = 6

/**
 * Groups rubrics into requests. The recording is most of a request's cost, so grouping pays for it once.
 * Evidence that a call lacks does not count, so all rubrics of a plain chat are one group.
 */
export function groupRubrics(
  rubrics: readonly Rubric[],
  material: JudgeMaterial,
  grouping: Grouping,
): Rubric[][] {
  if (grouping === 'separate') return rubrics.map((rubric) => [rubric])
  const groups = Map.groupBy(rubrics, ({ sees }) => sees.filter((name) => material[name].length > 0).join())
  return [...groups.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / maxRubricsOfGroup) }, (_unused, index) =>
      group.slice(index * maxRubricsOfGroup, (index + 1) * maxRubricsOfGroup),
    ),
  )
}
