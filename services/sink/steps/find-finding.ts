import { findingId, otherName, type FindingKey } from '#schemas/finding.ts'
import type { PlacedScore } from './place-score.ts'

/**
 * The kind of problem that an unsafe score shows; undefined: it belongs to no finding. Of several found
 * values the first decides. Suppressed scores are known false alarms, and red teams attack on purpose.
 */
export function keyOfFinding({ call, score, suppressions }: PlacedScore): FindingKey | undefined {
  if (score.score_label !== 'unsafe' || score.severity === null) return undefined
  if (suppressions.length > 0 || call.source === 'redteam') return undefined
  return keyOf({ ...call, ...score })
}

/** What decides the key of an unsafe score and its call. */
interface KeyParts {
  scorer_name: string
  agent_name: string | null
  tool_name: string | null
  found_values: readonly { kind: string; tool: string | null }[] | null
}

/** The key of an unsafe score that is in a finding. */
export function keyOf({ scorer_name, agent_name, tool_name, found_values }: KeyParts): FindingKey {
  const decisive = found_values?.[0]
  return {
    scorer_name,
    evidence_kind: storable(decisive?.kind ?? ''),
    agent_name: storable(agent_name ?? ''),
    tool_name: storable(decisive?.tool ?? tool_name ?? ''),
  }
}

/** The finding that gathers a scorer's scores for which the project has no room. */
export function keyOfOthers({ scorer_name }: FindingKey): FindingKey {
  return { scorer_name, evidence_kind: '', agent_name: otherName, tool_name: otherName }
}

/** Postgres refuses null characters and half surrogate pairs, which the scorer never sends. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

/** A score's key with its finding. */
export interface KeyedScore {
  placed: PlacedScore
  key: FindingKey
}

export const idOfKey = ({ placed, key }: KeyedScore): string => findingId(placed.call.project_id, key)
