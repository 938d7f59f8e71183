import {
  addAlertSums,
  countsOf,
  hasPast,
  measureAlert,
  measureBefore,
  type AlertRule,
  type AlertSums,
} from '#schemas/alert-rule.ts'
import { newAlertState, nextAlertState, type AlertLevel, type AlertState } from '#schemas/alert-state.ts'
import { hourSumsSql, windowsJson } from '#schemas/alert-values.ts'
import { idToUuid } from '#schemas/ids.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

const hourMs = 3_600_000
const weekMs = 168 * hourMs

interface AlertInterval {
  level: AlertLevel
  start: string
  end: string | null
  worst_value: number
  notified: boolean
}

export interface AlertPreview {
  hours: number
  hours_without_data: number
  fired: number
  intervals: AlertInterval[]
}

/**
 * When a rule would have fired in whole hours from `startMs` and before `endMs`, by the hourly roll-ups: the
 * same decisions as every minute, once an hour. A window has the hours that it touches; counts of shorter
 * windows are scaled.
 */
export async function previewAlertRule(
  database: ProjectDatabase<OneProject>,
  rule: AlertRule,
  { startMs, endMs }: { startMs: number; endMs: number },
): Promise<AlertPreview> {
  const windowHours = Math.ceil(rule.window_minutes / 60)
  const share = rule.window_minutes / (windowHours * 60)
  const compares = rule.compare === 'last_week'
  const sums = await readHours(
    database,
    rule,
    startMs - windowHours * hourMs - (compares ? weekMs : 0),
    endMs,
  )
  const within = (untilMs: number) =>
    addAlertSums(
      Array.from({ length: windowHours }, (_, back) => sums.get(untilMs - (back + 1) * hourMs) ?? {}),
    )
  const preview: AlertPreview = { hours: 0, hours_without_data: 0, fired: 0, intervals: [] }
  let state = newAlertState(startMs)
  for (let untilMs = startMs + hourMs; untilMs <= endMs; untilMs += hourMs) {
    const value = measureAlert(rule, within(untilMs), share)
    const compared = compares ? measureBefore(rule, within(untilMs - weekMs), share) : null
    const { state: next, raised } = nextAlertState(rule, state, { kind: 'value', value, compared }, untilMs)
    preview.hours++
    if (next.status === 'no_data') preview.hours_without_data++
    if (raised?.event === 'alert_fired') preview.fired++
    noteInterval(preview.intervals, rule, { before: state, next, untilMs, value })
    if (raised?.event === 'alert_fired') noteEvent(preview.intervals)
    state = next
  }
  return preview
}

/** Ends the interval of the status before, begins another, or goes on with one. */
function noteInterval(
  intervals: AlertInterval[],
  { direction }: AlertRule,
  {
    before,
    next,
    untilMs,
    value,
  }: { before: AlertState; next: AlertState; untilMs: number; value: number | null },
): void {
  const last = intervals.at(-1)
  if (last?.end === null && before.status !== next.status) last.end = new Date(untilMs).toISOString()
  if ((next.status !== 'warning' && next.status !== 'alert') || value === null) return
  if (last?.end === null) {
    last.worst_value =
      direction === 'above' ? Math.max(last.worst_value, value) : Math.min(last.worst_value, value)
    return
  }
  const start = new Date(untilMs).toISOString()
  intervals.push({ level: next.status, start, end: null, worst_value: value, notified: false })
}

function noteEvent(intervals: readonly AlertInterval[]): void {
  const last = intervals.at(-1)
  if (last !== undefined) last.notified = true
}

async function readHours(
  database: ProjectDatabase<OneProject>,
  rule: AlertRule,
  startMs: number,
  endMs: number,
): Promise<ReadonlyMap<number, AlertSums>> {
  if (!hasPast(rule.metric)) return new Map()
  const projectUuid = idToUuid(database.scope.projectId)
  const rows = await database.query<AlertSums & { at: Date }>(hourSumsSql(countsOf(rule), ':scope(t)'), [
    windowsJson([{ projectUuid, rule, startMs, endMs }]),
  ])
  return new Map(rows.map((row) => [row.at.getTime(), row]))
}
