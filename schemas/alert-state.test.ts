import { expect, test } from '@jest/globals'
import type { AlertRule } from './alert-rule.ts'
import { newAlertState, nextAlertState, type AlertReading } from './alert-state.ts'

const minuteMs = 60_000
const rule: AlertRule = {
  ...{ metric: 'failed_share', filter: {}, window_minutes: 5, direction: 'above', compare: 'none' },
  ...{ warning_threshold: 10, alert_threshold: 20, for_minutes: 0, cooldown_minutes: 0 },
}
const late: AlertReading = { kind: 'late' }
const off: AlertReading = { kind: 'disabled' }

/** A number is a value, a pair a value and the one a week before. */
type Step = number | null | [number, number | null] | AlertReading

const readingOf = (step: Step): AlertReading => {
  if (Array.isArray(step)) return { kind: 'value', value: step[0], compared: step[1] }
  return typeof step === 'object' && step !== null ? step : { kind: 'value', value: step, compared: null }
}

/** Plays one reading a minute. Each line is the status and what was told: `!` fired, `.` recovered. */
function play(changes: Partial<AlertRule>, steps: readonly Step[]): string[] {
  let state = newAlertState(0)
  return steps.map((step, minute) => {
    const next = nextAlertState({ ...rule, ...changes }, state, readingOf(step), minute * minuteMs)
    state = next.state
    const { raised } = next
    return state.status + (raised ? ` ${raised.level}${raised.event === 'alert_fired' ? '!' : '.'}` : '')
  })
}

test.each<[name: string, changes: Partial<AlertRule>, steps: Step[], expected: string[]]>([
  ['a value at the threshold does not pass it', {}, [20, 21], ['warning warning!', 'alert alert!']],
  [
    'below',
    { direction: 'below', warning_threshold: null, alert_threshold: 5 },
    [5, 4],
    ['ok', 'alert alert!'],
  ],
  ['no warning without its threshold', { warning_threshold: null }, [15, 25], ['ok', 'alert alert!']],
  ['a recovery names the level that it leaves', {}, [25, 5], ['alert alert!', 'ok alert.']],
  ['a lower level is not told', {}, [25, 15, 25, 5], ['alert alert!', 'warning', 'alert', 'ok alert.']],
  ['an unchanged level is told once', {}, [25, 25, 25], ['alert alert!', 'alert', 'alert']],
  ['for-duration', { for_minutes: 2 }, [25, 25, 25], ['ok', 'ok', 'alert alert!']],
  [
    'for-duration begins again after a break',
    { for_minutes: 2 },
    [25, 5, 25, 25, 25],
    [...['ok', 'ok', 'ok', 'ok', 'alert alert!']],
  ],
  [
    'for-duration of each level',
    { for_minutes: 2 },
    [15, 15, 25, 25, 25],
    [...['ok', 'ok', 'warning warning!', 'warning', 'alert alert!']],
  ],
  [
    'for-duration does not delay recovery',
    { for_minutes: 1 },
    [25, 25, 5],
    ['ok', 'alert alert!', 'ok alert.'],
  ],
  [
    'cooldown holds back the same level',
    { cooldown_minutes: 3 },
    [25, 5, 25, 25],
    [...['alert alert!', 'ok alert.', 'alert', 'alert alert!']],
  ],
  [
    'cooldown of what ended meanwhile tells nothing',
    { cooldown_minutes: 5 },
    [25, 5, 25, 5],
    [...['alert alert!', 'ok alert.', 'alert', 'ok']],
  ],
  [
    'cooldown lets a worse level pass',
    { cooldown_minutes: 9 },
    [15, 25],
    ['warning warning!', 'alert alert!'],
  ],
  ['no calls: no data', {}, [null, null], ['no_data', 'no_data']],
  ['no calls end an alert', {}, [25, null], ['alert alert!', 'no_data alert.']],
  [
    'late is neither no data nor a recovery',
    {},
    [25, late, late, 5],
    ['alert alert!', 'late', 'late', 'ok alert.'],
  ],
  ['late fires nothing', { for_minutes: 1 }, [25, late, 25], ['ok', 'late', 'alert alert!']],
  ['an alert that lasts over a lag is not told again', {}, [25, late, 25], ['alert alert!', 'late', 'alert']],
  ['a disabled rule recovers', {}, [25, off, off], ['alert alert!', 'ok alert.', 'ok']],
  [
    'last week: multiples',
    { compare: 'last_week', warning_threshold: null, alert_threshold: 2 },
    [
      [20, 10],
      [21, 10],
    ],
    [...['ok', 'alert alert!']],
  ],
  [
    'last week had none',
    { compare: 'last_week', alert_threshold: 2 },
    [
      [5, 0],
      [0, 0],
    ],
    ['alert alert!', 'ok alert.'],
  ],
  ['last week is not known', { compare: 'last_week' }, [[25, null]], ['no_data']],
])('%s', (_name, changes, steps, expected) => {
  expect(play(changes, steps)).toEqual(expected)
})

test('events name since when the rule fires, also at the second level', () => {
  const first = nextAlertState(rule, newAlertState(0), readingOf(15), minuteMs)
  const second = nextAlertState(rule, first.state, readingOf(25), 2 * minuteMs)
  const third = nextAlertState(rule, second.state, readingOf(1), 3 * minuteMs)
  expect([first, second, third].map(({ raised, state }) => [raised?.since_ms, state.changes])).toEqual([
    [minuteMs, 1],
    [minuteMs, 2],
    [minuteMs, 3],
  ])
})
