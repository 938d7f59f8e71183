import { liveRunId } from '#schemas/ids.ts'
import type { FindingKey } from '#schemas/finding.ts'
import { severities, type Severity } from '#schemas/verdicts.ts'
import { keyOfFinding } from './find-finding.ts'
import type { PlacedScore } from './place-score.ts'

/** A score as far as a finding counts it. */
export interface CountableScore {
  requestUuid: string
  requestCreatedAtMs: number
  score: { found_values: readonly { hash: Buffer | null }[] | null }
}

/** Scores of one finding that were added together. */
export interface FindingGroup<Counted extends CountableScore = CountableScore> {
  projectUuid: string
  findingUuid: string
  key: FindingKey
  owaspCategory: string | null
  severity: Severity
  /** In the order in which they came. */
  scores: Counted[]
}

/** The added live scores by their findings, in the order of the findings' keys in Postgres. */
export function groupByFinding(
  added: readonly PlacedScore[],
  keyOf: (placed: PlacedScore) => FindingKey | undefined = keyOfFinding,
): FindingGroup<PlacedScore>[] {
  const groups = new Map<string, FindingGroup<PlacedScore>>()
  for (const placed of added) {
    const { call, score, projectUuid, findingUuid } = placed
    const key = keyOf(placed)
    if (key === undefined || findingUuid === null || score.severity === null) continue
    if (call.run_id !== liveRunId(call.project_id)) continue
    const identity = `${projectUuid}/${findingUuid}`
    const group = groups.get(identity)
    if (group === undefined) {
      const { owasp_category: owaspCategory, severity } = score
      groups.set(identity, { projectUuid, findingUuid, key, owaspCategory, severity, scores: [placed] })
      continue
    }
    group.scores.push(placed)
    group.severity = worseOf(group.severity, score.severity)
  }
  return [...groups].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, group]) => group)
}

export function worseOf(one: Severity, other: Severity): Severity {
  return severities.indexOf(other) > severities.indexOf(one) ? other : one
}

/** Smallest and largest UUID of the scores' requests: the first and the last call by their identifiers. */
export function firstAndLast(scores: readonly CountableScore[]): {
  first: CountableScore
  last: CountableScore
} {
  const [one] = scores
  if (one === undefined) throw new RangeError('a finding has at least one score')
  return scores.reduce(
    ({ first, last }, placed) => ({
      first: placed.requestUuid < first.requestUuid ? placed : first,
      last: placed.requestUuid > last.requestUuid ? placed : last,
    }),
    { first: one, last: one },
  )
}

/** A value that scores of one batch found, with its first and its last request. */
export interface FoundOnce {
  projectUuid: string
  findingUuid: string
  hash: Buffer
  first: string
  last: string
}

/** The different values of each group, in the order of their keys. */
export function valuesOf(groups: readonly FindingGroup[]): FoundOnce[] {
  const values = new Map<string, FoundOnce>()
  for (const { projectUuid, findingUuid, scores } of groups) {
    for (const { score, requestUuid } of scores) {
      for (const { hash } of score.found_values ?? []) {
        if (hash === null) continue
        const identity = `${projectUuid}/${findingUuid}/${hash.toString('hex')}`
        const known = values.get(identity) ?? {
          ...{ projectUuid, findingUuid, hash, first: requestUuid, last: requestUuid },
        }
        if (requestUuid < known.first) known.first = requestUuid
        if (requestUuid > known.last) known.last = requestUuid
        values.set(identity, known)
      }
    }
  }
  return [...values].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value)
}
