import type { ClientBase } from 'pg'
import { isOfCalls, measureAlert, measureBefore, type AlertSums } from '#schemas/alert-rule.ts'
import { nextAlertState, type AlertReading } from '#schemas/alert-state.ts'
import { hoursOfWindow, readRecentSums, readWindowSums, type AlertWindow } from '#schemas/alert-values.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { makeAlertEvent } from '../../steps/make-alert-event.ts'
import type { DueRule, EvaluatedRule } from '../../stores/alert-store.ts'

const minuteMs = 60_000
const weekMs = 7 * 24 * 60 * minuteMs
/**
 * A rule is late once what it reads is known only up to so long ago. A busy system needs one or two rounds of
 * ten seconds for each of five queues.
 */
export const lateAfterMs = 5 * minuteMs
const askAgainMs = 10_000
const longestPauseMinutes = 5

/** Up to when calls are stored, and scored. Undefined: not known yet. */
export interface Progress {
  storedUntilMs: number | undefined
  scoredUntilMs: number | undefined
  /** The process has not had the time to know: rules that need it wait. */
  isStarting: boolean
  nowMs: number
}

export interface Evaluation {
  evaluated: EvaluatedRule[]
  events: RaisedEvent[]
}

/** Reads the windows of due rules and moves their states. A statement for each kind of counts. */
export async function evaluateDue(
  client: ClientBase,
  due: readonly DueRule[],
  progress: Progress,
  dashboardUrl: string,
): Promise<Evaluation> {
  const waiting = due.filter((one) => waits(one, progress))
  const ready = due.filter((one) => !waits(one, progress))
  const windows = ready.map((one) => windowOf(one, progress))
  const readings = await readAll(client, ready, windows)
  const events: RaisedEvent[] = []
  const evaluated: EvaluatedRule[] = ready.map((one, index) => {
    const reading = readings[index] as AlertReading
    const { state, raised } = nextAlertState(one.rule, one.state, reading, progress.nowMs)
    const { value, compared } = reading.kind === 'value' ? reading : { value: null, compared: null }
    const untilMs = windows[index]?.endMs ?? null
    const result = { due: one, state, value, compared, untilMs, dueAtMs: nextDueMs(one, progress.nowMs) }
    if (raised !== undefined) events.push(makeAlertEvent(result, raised, progress.nowMs, dashboardUrl))
    return result
  })
  return { evaluated: [...evaluated, ...waiting.map((one) => askAgain(one, progress.nowMs))], events }
}

function waits(due: DueRule, progress: Progress): boolean {
  return progress.isStarting && due.enabled && knownUntil(due, progress) === undefined
}

function askAgain(due: DueRule, nowMs: number): EvaluatedRule {
  return { due, state: due.state, value: null, compared: null, untilMs: null, dueAtMs: nowMs + askAgainMs }
}

/** Undefined: nothing to read, because the rule is disabled or the sink is behind. */
function windowOf(due: DueRule, progress: Progress): AlertWindow | undefined {
  const { rule, projectUuid } = due
  const untilMs = due.enabled ? knownUntil(due, progress) : undefined
  if (untilMs === undefined || progress.nowMs - untilMs > lateAfterMs) return undefined
  const endMs = Math.floor(untilMs / minuteMs) * minuteMs
  return { projectUuid, rule, startMs: endMs - rule.window_minutes * minuteMs, endMs }
}

function knownUntil({ rule }: DueRule, progress: Progress): number | undefined {
  if (!isOfCalls(rule.metric)) return progress.nowMs
  const needsScores = rule.metric === 'not_read_share' || rule.metric.startsWith('unsafe_')
  return needsScores ? progress.scoredUntilMs : progress.storedUntilMs
}

/** Long windows move little in a minute and are the dearest to read. */
function nextDueMs({ rule }: DueRule, nowMs: number): number {
  const everyMinutes = Math.min(Math.max(1, Math.floor(rule.window_minutes / 60)), longestPauseMinutes)
  return (Math.floor(nowMs / minuteMs) + everyMinutes) * minuteMs
}

async function readAll(
  client: ClientBase,
  due: readonly DueRule[],
  windows: readonly (AlertWindow | undefined)[],
): Promise<AlertReading[]> {
  const query = async (sql: string, values: unknown[]) =>
    (await client.query<AlertSums & { place: number }>(sql, values)).rows
  const read = windows.filter((window) => window !== undefined)
  const sums = await readRecentSums(query, read)
  const compared = due.flatMap(({ rule }, index) => {
    const window = windows[index]
    if (rule.compare !== 'last_week' || window === undefined) return []
    return [{ index, ...window, ...hoursOfWindow(window.startMs - weekMs, window.endMs - weekMs) }]
  })
  const before = await readWindowSums(query, compared, 'hour')
  const comparedAt = new Map(
    compared.map(({ index, rule, share }, place) => [index, measureBefore(rule, before[place] ?? {}, share)]),
  )
  return due.map(({ rule, enabled }, index) => {
    if (!enabled) return { kind: 'disabled' }
    const window = windows[index]
    if (window === undefined) return { kind: 'late' }
    const value = measureAlert(rule, sums[read.indexOf(window)] ?? {})
    return { kind: 'value', value, compared: comparedAt.get(index) ?? null }
  })
}
