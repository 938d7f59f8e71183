import { expect, test } from '@jest/globals'
import { examineServices } from './examine-services.ts'
import type { System } from './find-system.ts'

const nowMs = 1_800_000_000_000
const at = (secondsAgo: number) => new Date(nowMs - secondsAgo * 1_000).toISOString()

test('what ends again and again and answers in between is told of, what has been up for long is not', async () => {
  const processes = [
    { name: 'sink', endedAt: [at(7_000), at(900), at(70), at(40), at(10)] },
    { name: 'scorer', endedAt: [at(120)] },
    { name: 'notifier', endedAt: [at(700)] },
    { name: 'api', endedAt: [] },
    { name: 'of a version before' },
  ]
  const system = { operations: {}, processes, now: () => nowMs } as unknown as System
  const found = (await examineServices(system)).filter(({ check }) => check === 'restarts')
  expect(found.map(({ state, what }) => [state, what])).toEqual([
    ['problem', 'sink has ended 4 times within half an hour, the last time 10 s ago'],
    ['warning', 'scorer has ended once within half an hour, the last time 120 s ago'],
  ])
})
