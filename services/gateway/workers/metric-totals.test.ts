import { expect, test } from '@jest/globals'
import { createMetrics } from '#runtime/metrics.ts'
import { createMetricTotals } from './metric-totals.ts'
import { readMetrics } from './worker-report.ts'

test('of workers that end together every count stays', async () => {
  const metrics = createMetrics()
  metrics.counter('sluice_test_total', 'Of a worker.').inc(2)
  const last = await readMetrics(metrics)
  const totals = createMetricTotals()
  void totals.retire(last)
  void totals.retire(last)
  expect(await totals.text([last])).toMatch(/^sluice_test_total 6$/m)
})
