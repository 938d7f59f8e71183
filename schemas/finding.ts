import type { FindingState } from './event-data.ts'
import type { EventName } from './event-raised.ts'
import { hashedId, idTimeMs } from './ids.ts'
import type { Severity } from './verdicts.ts'

/** What makes failing scores of a project one finding. '' stands for none. */
export interface FindingKey {
  scorer_name: string
  evidence_kind: string
  agent_name: string
  tool_name: string
}

/** Findings of a project; scores of further kinds are gathered by scorer alone. */
export const maxFindings = 10_000
/** The agent and the tool of the finding that gathers them. */
export const otherName = '(other)'
/** Different values of a finding that are counted. */
export const maxFindingValues = 1_000
/** Stands in a finding's counters and values for the UUID of an erased call. No call has it. */
export const erasedCall = '00000000-0000-0000-0000-000000000000'
/** Days that a finding is kept after its last call, and a change in its history. */
export const findingDays = 400

const [hourMs, dayMs] = [3_600_000, 86_400_000]
/** How long a finding may be open before it is overdue. */
export const findingTargetMs: Readonly<Record<Severity, number>> = {
  critical: 4 * hourMs,
  high: 24 * hourMs,
  medium: 7 * dayMs,
}

/** The same for the same key. */
export function findingId(projectId: string, key: FindingKey): string {
  const { scorer_name, evidence_kind, agent_name, tool_name } = key
  const parts = ['finding', projectId, scorer_name, evidence_kind, agent_name, tool_name]
  return hashedId('finding', idTimeMs(projectId), parts)
}

/** The state of a finding. `muted_until` is set exactly when it is muted. */
export interface FindingStanding {
  state: FindingState
  muted_until: Date | null
}

export type FindingEvent = Extract<EventName, `finding_${string}`>

/** Whether nobody needs to act on it, until it comes again. */
export function isClosed(state: FindingState): boolean {
  return state === 'resolved' || state === 'false_alarm'
}

/** Whether another failing score opens it again: a resolved one, and one whose mute is over. */
export function opensAgain({ state, muted_until }: FindingStanding, nowMs: number): boolean {
  return state === 'resolved' || (state === 'muted' && (muted_until?.getTime() ?? 0) <= nowMs)
}

const changesFrom: Readonly<Record<FindingState, readonly FindingState[]>> = {
  open: ['acknowledged', 'resolved', 'false_alarm', 'muted'],
  acknowledged: ['open', 'resolved', 'false_alarm', 'muted'],
  muted: ['open', 'acknowledged', 'resolved', 'false_alarm', 'muted'],
  resolved: ['open', 'false_alarm'],
  false_alarm: ['open', 'resolved'],
}

/** Whether a person may make this change. A closed finding is opened before other work on it. */
export function mayChange(from: FindingState, to: FindingState): boolean {
  return from === to || changesFrom[from].includes(to)
}

/** The event that a person's change of state raises; null: none. */
export function eventOfChange(from: FindingState, to: FindingState): FindingEvent | null {
  if (from === to || to === 'muted') return null
  if (isClosed(to)) return isClosed(from) ? null : 'finding_resolved'
  if (isClosed(from)) return 'finding_reopened'
  return to === 'acknowledged' ? 'finding_acknowledged' : null
}
