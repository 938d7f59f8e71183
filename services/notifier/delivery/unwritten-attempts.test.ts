import { expect, test } from '@jest/globals'
import { createMetrics } from '#runtime/metrics.ts'
import { createNotifierMetrics } from '../notifier-metrics.ts'
import { deliveredAttempt } from '../testing/sample-records.ts'
import { createUnwrittenAttempts } from './unwritten-attempts.ts'

test('so many are remembered, for an hour; the oldest is forgotten and counted', async () => {
  const metrics = createNotifierMetrics(createMetrics())
  let nowMs = 0
  const unwritten = createUnwrittenAttempts(metrics, { now: () => nowMs }, 2)
  for (const name of ['a', 'b', 'a', 'c']) unwritten.add(name, deliveredAttempt)
  expect(['a', 'b', 'c'].map((name) => unwritten.find(name) !== undefined)).toEqual([true, false, true])
  unwritten.remove('a')
  unwritten.remove('b')
  const valueOf = async (metric: typeof metrics.unwritten | typeof metrics.forgotten) =>
    (await metric.get()).values[0]?.value
  expect([await valueOf(metrics.unwritten), await valueOf(metrics.forgotten)]).toEqual([1, 1])
  nowMs = 3_600_001
  unwritten.add('d', deliveredAttempt)
  expect(['c', 'd'].map((name) => unwritten.find(name) !== undefined)).toEqual([false, true])
})
