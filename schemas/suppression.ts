import { severities, type Severity } from './verdicts.ts'

/** Active at once in a project: each unsafe score is compared with all of its scorer's. */
export const maxActiveSuppressions = 200

/** What a suppression covers. Null: any. All that are given must fit the same value. */
export interface SuppressionRule {
  id: string
  scorer_name: string
  kind: string | null
  agent_name: string | null
  tool_name: string | null
  /** Of one value. It then covers nothing else, even when its hash was forgotten. */
  has_value: boolean
  value_hash: Buffer | null
  /** The worst severity that it covers. */
  max_severity: Severity
  /** Null: until it is revoked. */
  expires_at: Date | null
}

/** An unsafe score, with the agent and the tool of its call. */
export interface SuppressibleScore {
  scorer_name: string
  severity: Severity | null
  agent_name: string | null
  tool_name: string | null
  found_values: readonly { kind: string; tool: string | null; hash: Buffer | null }[] | null
  found_more: boolean | null
}

type FoundThing = { kind: string | null; tool: string | null; hash: Buffer | null }

/**
 * The suppressions that make a score a known false alarm, in their order; empty: it is none. Every value that
 * the score found must be covered: otherwise a known value beside an attack would hide it. If more may have
 * been found than the score carries, only rules that ask for neither kind nor value cover it.
 */
export function suppressionsOf(
  rules: readonly SuppressionRule[],
  score: SuppressibleScore,
  nowMs: number,
): SuppressionRule[] {
  const fitting = rules.filter((rule) => fits(rule, score, nowMs))
  const whole = { kind: null, tool: score.tool_name, hash: null }
  const ofAll = fitting.find((rule) => covers(rule, whole))
  if (ofAll !== undefined) return [ofAll]
  const found = score.found_values ?? []
  if (found.length === 0 || score.found_more !== false) return []
  const covering = found.map((value) => fitting.find((rule) => covers(rule, value)))
  return covering.every((rule) => rule !== undefined) ? [...new Set(covering)] : []
}

function fits(rule: SuppressionRule, score: SuppressibleScore, nowMs: number): boolean {
  return (
    rule.scorer_name === score.scorer_name &&
    score.severity !== null &&
    severities.indexOf(score.severity) <= severities.indexOf(rule.max_severity) &&
    (rule.agent_name === null || rule.agent_name === score.agent_name) &&
    (rule.expires_at === null || rule.expires_at.getTime() > nowMs)
  )
}

function covers(rule: SuppressionRule, { kind, tool, hash }: FoundThing): boolean {
  if (rule.kind !== null && rule.kind !== kind) return false
  if (rule.tool_name !== null && rule.tool_name !== tool) return false
  return !rule.has_value || (rule.value_hash !== null && hash !== null && rule.value_hash.equals(hash))
}
