import { expect, test } from '@jest/globals'
import path from 'node:path'
import { measureOrdinaryTraffic, ordinaryTableOf, readOrdinaryCalls } from './ordinary-traffic.ts'

const calls = readOrdinaryCalls(path.join(import.meta.dirname, 'datasets/ordinary'), 'all')

test('the set has at least 1,000 calls of at least 12 kinds, each once', () => {
  expect(calls.length).toBeGreaterThanOrEqual(1_000)
  expect(new Set(calls.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(12)
  expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length)
})

test('an alarm counts unless the row says that it is right', () => {
  const request = { model: 'm', messages: [{ role: 'user', content: 'My card is 4111 1111 1111 1111.' }] }
  const call = { id: 'a', kind: 'cards', source: 'here', request, response: null, may: [] }
  const rows = measureOrdinaryTraffic([call, { ...call, id: 'b', may: ['pii_detection'] }])

  expect(rows).toEqual([
    {
      kind: 'cards',
      calls: 2,
      falseAlarms: 1,
      byScorer: { pii_detection: 1 },
      covered: 2,
      alarms: [{ id: 'a', scorers: ['pii_detection'] }],
    },
  ])
  expect(ordinaryTableOf(rows)).toContain('| all | 2 | 100.0 % | 1 | 500.0 in 1,000 |')
})
