import type { AlertRule } from './alert-rule.ts'

export const alertStatuses = ['ok', 'warning', 'alert', 'no_data', 'late'] as const
export type AlertStatus = (typeof alertStatuses)[number]
export type AlertLevel = 'warning' | 'alert'

/** Where a rule stands. Times in Unix milliseconds. */
export interface AlertState {
  status: AlertStatus
  /** Since when it has this status. */
  since_ms: number
  /** Since when the threshold is passed without a break; null: it is not. */
  warning_since_ms: number | null
  alert_since_ms: number | null
  /** The level that receivers know; null: none, or they know of the recovery. */
  told_level: AlertLevel | null
  told_since_ms: number | null
  /** The last `alert_fired`, for the cooldown. */
  fired_level: AlertLevel | null
  fired_at_ms: number | null
  /** Events raised so far: each has an id of its own. */
  changes: number
}

/** What the evaluation saw. */
export type AlertReading =
  /** The sink is behind: what the window holds is not known yet. */
  | { kind: 'late' }
  /** The rule is disabled. */
  | { kind: 'disabled' }
  /** `value` null: the window had no calls. `compared`: the value a week before, if the rule compares. */
  | { kind: 'value'; value: number | null; compared: number | null }

export interface AlertRaised {
  event: 'alert_fired' | 'alert_recovered'
  level: AlertLevel
  /** Since when it fires. */
  since_ms: number
}

const minuteMs = 60_000
const rankOf = { warning: 1, alert: 2 } as const

export function newAlertState(nowMs: number): AlertState {
  return {
    ...{ status: 'ok', since_ms: nowMs, warning_since_ms: null, alert_since_ms: null },
    ...{ told_level: null, told_since_ms: null, fired_level: null, fired_at_ms: null, changes: 0 },
  }
}

/**
 * The state after a reading at `nowMs`, and the event that tells of the change. While the sink is behind
 * nothing is told and a level that lasts goes on lasting. A window without calls recovers, as does a disabled
 * rule.
 */
export function nextAlertState(
  rule: AlertRule,
  before: AlertState,
  reading: AlertReading,
  nowMs: number,
): { state: AlertState; raised: AlertRaised | undefined } {
  if (reading.kind === 'late') return { state: withStatus(before, 'late', nowMs), raised: undefined }
  const level = reading.kind === 'value' ? levelOf(rule, reading) : 'ok'
  const lasting = {
    ...before,
    warning_since_ms: isLevel(level) ? (before.warning_since_ms ?? nowMs) : null,
    alert_since_ms: level === 'alert' ? (before.alert_since_ms ?? nowMs) : null,
  }
  const state = withStatus(lasting, statusOf(rule, lasting, level, nowMs), nowMs)
  return tell(rule, state, nowMs)
}

function withStatus(state: AlertState, status: AlertStatus, nowMs: number): AlertState {
  return status === state.status ? { ...state } : { ...state, status, since_ms: nowMs }
}

function isLevel(status: AlertStatus): status is AlertLevel {
  return status === 'warning' || status === 'alert'
}

/** The level of a value by itself. */
function levelOf(
  rule: AlertRule,
  { value, compared }: { value: number | null; compared: number | null },
): 'ok' | AlertLevel | 'no_data' {
  if (value === null) return 'no_data'
  const tested = rule.compare === 'none' ? value : multipleOf(value, compared)
  if (tested === null) return 'no_data'
  const passes = (threshold: number) => (rule.direction === 'above' ? tested > threshold : tested < threshold)
  if (passes(rule.alert_threshold)) return 'alert'
  return rule.warning_threshold !== null && passes(rule.warning_threshold) ? 'warning' : 'ok'
}

/** Something after nothing is infinitely more, nothing after nothing the same. Null: nothing to compare. */
function multipleOf(value: number, compared: number | null): number | null {
  if (compared === null) return null
  if (compared === 0) return value === 0 ? 1 : Infinity
  return value / compared
}

/** A level counts once it lasted `for_minutes`; until then a level that is told already stays. */
function statusOf(
  rule: AlertRule,
  state: AlertState,
  level: 'ok' | AlertLevel | 'no_data',
  nowMs: number,
): AlertStatus {
  if (!isLevel(level)) return level
  const lasts = (sinceMs: number | null) => sinceMs !== null && nowMs - sinceMs >= rule.for_minutes * minuteMs
  if (lasts(state.alert_since_ms)) return 'alert'
  if (lasts(state.warning_since_ms)) return 'warning'
  return state.told_level === null ? 'ok' : level === 'alert' ? state.told_level : 'warning'
}

function tell(
  rule: AlertRule,
  state: AlertState,
  nowMs: number,
): { state: AlertState; raised: AlertRaised | undefined } {
  const { status, told_level: told } = state
  if (!isLevel(status)) {
    if (told === null) return { state, raised: undefined }
    const raised = { event: 'alert_recovered', level: told, since_ms: state.told_since_ms ?? nowMs } as const
    return { state: { ...state, told_level: null, told_since_ms: null, changes: state.changes + 1 }, raised }
  }
  if (told !== null && rankOf[told] >= rankOf[status]) return { state, raised: undefined }
  if (coolsDown(rule, state, status, nowMs)) return { state, raised: undefined }
  const since = state.told_since_ms ?? state.since_ms
  const fired = { told_level: status, told_since_ms: since, fired_level: status, fired_at_ms: nowMs }
  return {
    state: { ...state, ...fired, changes: state.changes + 1 },
    raised: { event: 'alert_fired', level: status, since_ms: since },
  }
}

/** A worse level than the last one is told at once. */
function coolsDown(
  { cooldown_minutes: minutes }: AlertRule,
  { fired_level: level, fired_at_ms: atMs }: AlertState,
  status: AlertLevel,
  nowMs: number,
): boolean {
  if (level === null || atMs === null || rankOf[level] < rankOf[status]) return false
  return nowMs - atMs < minutes * minuteMs
}
