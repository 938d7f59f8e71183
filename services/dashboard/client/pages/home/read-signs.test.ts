import { expect, test } from '@jest/globals'
import type { CallTotal } from './read-stats.ts'
import { signsOf, summaryOf, type Status } from './read-signs.ts'

const nowMs = Date.parse('2026-11-29T12:00:00Z')
const none = { open: 0, last_day: 0, last_week: 0 }
const well: Status = {
  project_id: 'prj_1',
  findings: (['critical', 'high', 'medium'] as const).map((severity) => ({ severity, ...none })),
  ...{ firing_rules: [], failing_receivers: [], scoring: { waiting: 0, oldest_at: null } },
}
const calls = (unsafe: number, not_read = 0) =>
  ({
    safe: 100 - unsafe,
    unsafe,
    unscored: 0,
    no_finding: 100 - unsafe - not_read,
    partly_read: 0,
    not_read,
  }) as CallTotal
const known: Parameters<typeof signsOf>[0] = {
  status: well,
  total: calls(2),
  before: calls(2),
  hasJudge: true,
  nowMs,
}
const since = (minutes: number) => new Date(nowMs - minutes * 60_000).toISOString()
const scoring = (minutes: number): Status => ({ ...well, scoring: { waiting: 3, oldest_at: since(minutes) } })
const findings = (...open: [number, number, number]): Status => ({
  ...well,
  findings: well.findings.map((each, index) => ({ ...each, open: open[index] ?? 0 })),
})
const rule = (status: 'warning' | 'alert'): Status => ({
  ...well,
  firing_rules: [{ id: 'alr_1', name: 'Costs', status, since: since(1) }],
})
const fails: Status = {
  ...well,
  failing_receivers: [{ id: 'whk_1', kind: 'slack', deliveries: 4, failed: 3, is_disabled: true }],
}

test('nothing is wrong', () => {
  expect(summaryOf(signsOf(known))).toBe('Nothing needs attention.')
  expect(summaryOf(signsOf({ ...known, total: undefined, before: undefined }))).toBe(
    'Nothing needs attention.',
  )
})

test.each([
  ['a grave finding', 'Open findings', 'wrong', { status: findings(1, 0, 0) }],
  ['a lesser finding', 'Open findings', 'warning', { status: findings(0, 0, 2) }],
  ['an alert', 'Alerts', 'wrong', { status: rule('alert') }],
  ['a warning', 'Alerts', 'warning', { status: rule('warning') }],
  ['more unsafe calls than before', 'Unsafe share', 'warning', { total: calls(20) }],
  ['calls that nothing read', 'Not read', 'warning', { total: calls(2, 6) }],
  ['a receiver that fails', 'Delivery', 'wrong', { status: fails }],
  ['calls that wait a little', 'Scoring', 'warning', { status: scoring(2) }],
  ['calls that wait for long', 'Scoring', 'wrong', { status: scoring(30) }],
  ['no scorer', 'Scoring', 'wrong', { hasJudge: null }],
  ['no judge', 'Scoring', 'warning', { hasJudge: false }],
] satisfies [string, string, string, Partial<typeof known>][])(
  '%s is said, and nothing else',
  (_name, label, health, changes) => {
    const signs = signsOf({ ...known, ...changes })
    expect(signs.filter((sign) => sign.health !== 'ok')).toMatchObject([{ label, health }])
    expect(summaryOf(signs)).toBe(`Needs attention: ${label.toLowerCase()}.`)
  },
)

test('a receiver that fails leads to its log', () => {
  const signs = signsOf({ ...known, status: fails })
  expect(signs.find(({ label }) => label === 'Delivery')).toMatchObject({
    value: '1 fails',
    detail: 'failed in a day: slack 3 of 4 (disabled)',
    to: '/settings/destinations/whk_1/deliveries',
  })
})
