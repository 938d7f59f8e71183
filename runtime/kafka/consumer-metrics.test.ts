import { expect, test } from '@jest/globals'
import { systemClock } from '../clock.ts'
import { createMetrics } from '../metrics.ts'
import { createConsumerMetrics } from './consumer-metrics.ts'

test('the age of the oldest record is that of the moment that asks, and one partition does not hide another', async () => {
  const metrics = createMetrics()
  let now = 100_000
  const clock = { ...systemClock, now: () => now }
  const calls = createConsumerMetrics(metrics, 'calls', clock)
  const scores = createConsumerMetrics(metrics, 'scores', clock)
  const ages = async () => {
    const found = await metrics.registry.getSingleMetric('sluice_kafka_oldest_unfinished_age_seconds')?.get()
    return found?.values.map(({ labels, value }) => [labels['group'], value])
  }
  calls.oldestUnfinished('t', 0, 40_000)
  calls.oldestUnfinished('t', 1, 90_000)
  scores.oldestUnfinished('s', 0, 99_000)
  now += 300_000
  calls.oldestUnfinished('t', 1, null)
  expect(await ages()).toEqual([
    ['calls', 360],
    ['scores', 301],
  ])
  calls.oldestUnfinished('t', 0, null)
  scores.forgetLag()
  expect(await ages()).toEqual([
    ['calls', 0],
    ['scores', 0],
  ])
})
