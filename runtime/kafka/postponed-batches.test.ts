import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { consumeBatchesByHand as consume } from '#tests/support/hand-driven-consumer.ts'
import { holdTime, turns } from '#tests/support/hand-driven-group.ts'
import { TransientError } from '../errors.ts'

beforeEach(holdTime)
afterEach(() => void jest.useRealTimers())

const away = () => Promise.reject(new TransientError('STORE_AWAY', 'not now'))

test('what goes on failing is put off, so that other partitions go on: paused until its next attempt, which is counted on', async () => {
  const retry = { attempts: 3, initialDelayMs: 100_000, maxDelayMs: 100_000 }
  const { deliver, consumer, paused, handled, commits, failure } = await consume({
    options: { retry },
    handle: (chunk) => (chunk.startsWith('0') ? away() : undefined),
  })
  for (const attempt of [1, 2]) {
    expect(await deliver(0, 0, 2)).toBeUndefined()
    expect([handled.length, [...paused], commits.at(-1)]).toEqual([attempt, [0], '0@0'])
    expect(consumer.health().status).toBe('degraded')
    jest.advanceTimersByTime(100_000)
    await turns()
    expect([...paused]).toEqual([])
  }
  expect(await deliver(1, 0, 2)).toBeUndefined()
  expect([commits.at(-1), consumer.health().status, failure()]).toEqual(['1@2', 'degraded', undefined])
  await deliver(0, 0, 2)
  expect(failure()).toMatchObject({ code: 'STORE_AWAY' })
})

test('what was put off and is reassigned starts over; what is dealt to another is no trouble any more', async () => {
  const retry = { attempts: 2, initialDelayMs: 100_000, maxDelayMs: 100_000 }
  const { deliver, consumer, assign, paused, failure } = await consume({ options: { retry }, handle: away })
  await deliver(0, 0, 2)
  await assign(0, 1)
  await deliver(0, 0, 2)
  expect([[...paused], failure()]).toEqual([[0], undefined])
  await assign(1)
  expect(consumer.health().status).toBe('ok')
  jest.advanceTimersByTime(100_000)
  await turns()
  expect(failure()).toBeUndefined()
})
