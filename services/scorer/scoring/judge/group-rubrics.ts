import type { JudgeMaterial } from './judge-prompt.ts'
import type { Rubric } from './rubric.ts'

/** `evidence`: rubrics that see the same are asked in one call; `separate`: one call each. */
export const groupings = ['evidence', 'separate'] as const
export type Grouping = (typeof groupings)[number]

/** With more of them an answer takes longer than people wait for one: each adds about 100 tokens to it. */
const maxRubricsOfGroup = 6

/**
 * Which rubrics are asked together. The recording is most of what a call to the judge costs: together it is paid for once. What a call does
 * not have nobody needs to see, so that the rubrics of a plain chat are one group.
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
