import { expect, test } from '@jest/globals'
import { createThrottledLog } from './throttled-log.ts'

test('each kind is said so often a second, with how many were not', () => {
  let nowMs = 5_000
  const told: [string, number][] = []
  const throttledLog = createThrottledLog(2, () => nowMs)
  const say = (kind: string) => throttledLog(kind, (unsaid) => told.push([kind, unsaid]))
  for (const kind of ['full', 'full', 'late', 'full']) say(kind)
  nowMs += 999
  say('full')
  nowMs += 1
  for (const kind of ['full', 'full', 'full']) say(kind)
  // Set back, and not silent until it has caught up.
  nowMs -= 3_600_000
  say('full')
  expect(told).toEqual([
    ['full', 0],
    ['full', 0],
    ['late', 0],
    ['full', 2],
    ['full', 0],
    ['full', 1],
  ])
})
