import { expect, test } from '@jest/globals'
import { createMetrics } from '#runtime/metrics.ts'
import { createJobsUnderWay } from './jobs-under-way.ts'
import { createScorerMetrics } from './scorer-metrics.ts'

test('live jobs are late while one of them has waited for over five seconds, and no longer', () => {
  let nowMs = 100_000
  const sleep = () => Promise.resolve()
  const jobs = createJobsUnderWay(createScorerMetrics(createMetrics()), { now: () => nowMs, sleep })
  expect(jobs.areLate()).toBe(false)
  const finishOld = jobs.begin(nowMs)
  nowMs += 5_000
  const finishNew = jobs.begin(nowMs)
  expect(jobs.areLate()).toBe(false)
  nowMs += 1
  expect(jobs.areLate()).toBe(true)
  finishOld()
  expect(jobs.areLate()).toBe(false)
  finishNew()
})
