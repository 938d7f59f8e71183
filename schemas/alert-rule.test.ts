import { expect, test } from '@jest/globals'
import { measureAlert, type AlertFilter, type AlertMetric, type AlertSums } from './alert-rule.ts'

const latencies = Array.from({ length: 40 }, (_, bucket) => (bucket === 20 ? '100' : null))
const sums: AlertSums = {
  ...{ total: '40', failed: '10', tokens: '900', cost_picodollars: '2500000000000', judged: '20' },
  ...{ unsafe: '10', critical: '1', high: '3', not_read: '4' },
  latencies,
}

test.each<[metric: AlertMetric, filter: AlertFilter, value: number | null, withoutCalls: number | null]>([
  ['calls', {}, 40, 0],
  ['failed_share', {}, 0.25, null],
  ['tokens', {}, 900, null],
  ['cost_usd', {}, 2.5, null],
  ['unsafe_share', {}, 0.5, null],
  ['unsafe_count', {}, 10, null],
  ['unsafe_count', { severity: 'medium' }, 10, null],
  ['unsafe_count', { severity: 'high' }, 4, null],
  ['unsafe_share', { severity: 'critical' }, 0.05, null],
  ['not_read_share', {}, 0.1, null],
  ['delivery_failures', {}, 10, 0],
])('%s %j', (metric, filter, value, withoutCalls) => {
  expect(measureAlert({ metric, filter }, sums)).toBe(value)
  expect(measureAlert({ metric, filter }, { total: '0' })).toBe(withoutCalls)
})

test('counts by the hour are scaled to shorter windows, shares are not', () => {
  const scaled = (metric: AlertMetric) => measureAlert({ metric, filter: {} }, sums, 0.5)
  expect([scaled('calls'), scaled('failed_share')]).toEqual([20, 0.25])
})

test('the percentile is of the bucket that 95% of the calls reach', () => {
  const value = measureAlert({ metric: 'latency_p95', filter: {} }, { total: '100', latencies })
  expect(value).toBeGreaterThan(2 ** 9.5)
  expect(value).toBeLessThan(2 ** 10)
})

test('sums beyond all numbers stay numbers', () => {
  const sum = '9'.repeat(400)
  expect(measureAlert({ metric: 'tokens', filter: {} }, { total: '1', tokens: sum })).toBe(Number.MAX_VALUE)
})
