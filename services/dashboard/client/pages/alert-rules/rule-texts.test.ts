import { expect, test } from '@jest/globals'
import {
  bodyOf,
  describeRule,
  errorsByField,
  formatValue,
  offeredFilters,
  readThreshold,
  thresholdText,
  unitOf,
  valuesOf,
  type AlertRule,
} from './rule-texts.ts'

const rule: AlertRule = {
  ...{ id: 'alr_1', project_id: 'prj_1', name: 'Bot fails', enabled: true, metric: 'failed_share' },
  ...{ filter: { agent_name: 'bot' }, window_minutes: 120, direction: 'above', warning_threshold: 0.07 },
  ...{ alert_threshold: 0.1, for_minutes: 5, cooldown_minutes: 60, compare: 'none', is_built_in: false },
  state: {
    ...{ status: 'ok', since: '', fires_since: null, value: null, compared_with: null },
    evaluated_until: null,
  },
  ...{ created_at: '', updated_at: '' },
}

test('a rule in one line', () => {
  expect(describeRule(rule)).toBe('Failed share of 2 h above 7% / 10% · Agent: bot')
  const weekly = { ...rule, compare: 'last_week', warning_threshold: null, alert_threshold: 2, filter: {} }
  expect(describeRule(weekly as AlertRule)).toBe('Failed share of 2 h above 2 times of last week')
})

test('what the form shows of a rule is what it sends', () => {
  expect(valuesOf(rule)).toMatchObject({ warning: 7, alert: 10 })
  const { id: _id, project_id: _project, name: _name, enabled: _enabled, ...rest } = rule
  const { is_built_in: _built, state: _state, created_at: _at, updated_at: _then, ...fields } = rest
  expect(bodyOf(valuesOf(rule))).toEqual(fields)
})

test.each([
  ['shares are percentages', { metric: 'unsafe_share', compare: 'none' }, 0.002, 0.2, '%'],
  [
    'multiples are not',
    { metric: 'unsafe_share', compare: 'last_week' },
    2,
    2,
    'times the value a week before',
  ],
  ['nor are counts', { metric: 'unsafe_count', compare: 'none' }, 3, 3, 'calls'],
] as const)('of thresholds, %s', (_name, of, stored, typed, unit) => {
  expect([thresholdText(stored, of), readThreshold(typed, of), unitOf(of)]).toEqual([typed, stored, unit])
  expect([thresholdText(null, of), readThreshold('', of)]).toEqual(['', null])
})

test('only filters that the metric has are offered and sent; unknown ones stay', () => {
  const values = { ...valuesOf(rule), metric: 'unsafe_share' as const }
  const filter = { agent_name: 'bot', scorer_name: 'pii_detection', severity: '', 'metadata.team': 'a' }
  expect(offeredFilters({ ...values, filter }, ['team'])).toEqual(['scorer_name', 'severity', 'source'])
  const ofCalls = offeredFilters({ ...values, filter: {} }, ['team', 'x.y'])
  expect(ofCalls).toEqual(expect.arrayContaining(['tool_name', 'metadata.team', 'metadata.x.y']))
  expect(bodyOf({ ...values, filter }).filter).toEqual({
    scorer_name: 'pii_detection',
  })
  const { scorer_name: _scorer, ...withoutScorer } = filter
  expect(bodyOf({ ...values, filter: { ...withoutScorer, later: 'b' } }).filter).toEqual({
    ...{ agent_name: 'bot', 'metadata.team': 'a', later: 'b' },
  })
  expect(offeredFilters({ ...values, metric: 'delivery_failures' }, ['team'])).toEqual([])
})

test.each([
  ['failed_share', 0.25, '25%'],
  ['latency_p95', 2_400, '2.4 sec'],
  ['cost_usd', 12, '$12.00'],
  ['calls', 1_200, '1,200'],
] as const)('a value of %s', (metric, value, text) => {
  expect(formatValue(value, metric)).toBe(text)
  expect(formatValue(null, metric)).toBe('–')
})

test('faults are shown at their fields', () => {
  expect(
    errorsByField([
      { path: 'warning_threshold', message: 'a' },
      { path: 'filter.model', message: 'b' },
    ]),
  ).toEqual({ warning: 'a', 'filter.model': 'b' })
})
