import type { Answer, Item } from '../../api/call-api.ts'
import { absent, formatCount, formatDuration } from '../../formats/format-number.ts'

export type Finding = Item<'GET /api/findings'>
export type FindingDetail = Answer<'GET /api/findings/{id}'>
export type FindingState = Finding['state']

export const findingStates = ['open', 'acknowledged', 'muted', 'resolved', 'false_alarm'] as const

export const stateWords: Readonly<Record<FindingState, string>> = {
  open: 'Open',
  acknowledged: 'Acknowledged',
  muted: 'Muted',
  resolved: 'Resolved',
  false_alarm: 'False alarm',
}

/** What was done, after a count of findings. */
export const doneWords: Readonly<Record<FindingState, string>> = {
  open: 'opened',
  acknowledged: 'acknowledged',
  muted: 'muted',
  resolved: 'resolved',
  false_alarm: 'marked as false alarms',
}

const changesFrom: Readonly<Record<FindingState, readonly FindingState[]>> = {
  open: ['acknowledged', 'resolved', 'false_alarm', 'muted'],
  acknowledged: ['resolved', 'false_alarm', 'muted', 'open'],
  muted: ['acknowledged', 'resolved', 'false_alarm', 'muted', 'open'],
  resolved: ['open', 'false_alarm'],
  false_alarm: ['open', 'resolved'],
}

/** Whether the API accepts this change of state. */
export function mayBecome(from: FindingState, to: FindingState): boolean {
  return changesFrom[from].includes(to)
}

/** What was found. */
export function titleOf({
  scorer_name: scorer,
  evidence_kind: kind,
}: Pick<Finding, 'scorer_name' | 'evidence_kind'>): string {
  return kind === null ? scorer : `${scorer}: ${kind}`
}

/** Where it was found. */
export function placeOf({
  agent_name: agent,
  tool_name: tool,
}: Pick<Finding, 'agent_name' | 'tool_name'>): string {
  const parts = [agent, tool === null ? null : `tool ${tool}`].filter((part) => part !== null)
  return parts.length === 0 ? 'No agent' : parts.join(' · ')
}

/** How long a finding has been open, of how long it may be: "3 hr of 4 hr". */
export function ageOf({ opened_at, due_at }: Pick<Finding, 'opened_at' | 'due_at'>, nowMs: number): string {
  if (due_at === null) return absent
  const openedMs = Date.parse(opened_at)
  return `${formatSpan(nowMs - openedMs)} of ${formatSpan(Date.parse(due_at) - openedMs)}`
}

const dayMs = 86_400_000

function formatSpan(ms: number): string {
  if (ms < 2 * dayMs) return formatDuration(Math.max(1, Math.round(ms / 60_000)) * 60_000)
  return `${Math.floor(ms / dayMs)} days`
}

/** The number of different values, as far as it is known. */
export function formatValues({
  distinct_values: values,
  distinct_values_is_exact: isExact,
}: Finding): string {
  return `${formatCount(values)}${isExact ? '' : '+'}`
}

type Change = Pick<FindingDetail['history'][number], 'before' | 'after' | 'lost_owner'>

/** A change in the history, in words. */
export function describeChange({ before, after, lost_owner: lost }: Change): string {
  const parts: string[] = []
  if (before.state !== after.state) parts.push(`${stateWords[before.state]} → ${stateWords[after.state]}`)
  if (after.muted_until !== null && after.muted_until !== before.muted_until) parts.push('with an end')
  if (before.owner?.id !== after.owner?.id)
    parts.push(after.owner === null ? 'no owner' : `owner ${after.owner.login}`)
  if (lost !== null) parts.push(`${lost} no longer sees the project`)
  return parts.join(', ')
}
