import { expect, test } from '@jest/globals'
import type { Clock } from '../clock.ts'
import { PermanentError, TransientError } from '../errors.ts'
import { Interrupted, Postponed, retryDelayMs, retryTransient } from './retry-policy.ts'

const policy = { attempts: 3, initialDelayMs: 100, maxDelayMs: 250 }
const clock: Clock = { now: () => 0, sleep: () => Promise.resolve() }
const away = () => new TransientError('AWAY', 'not now')

test('the delay doubles up to its limit, half of it by chance', () => {
  expect([1, 2, 3, 9].map((failed) => retryDelayMs(policy, failed, () => 1))).toEqual([100, 200, 250, 250])
  expect([1, 2, 3, 9].map((failed) => retryDelayMs(policy, failed, () => 0))).toEqual([50, 100, 125, 125])
})

async function attemptsUntilEnd(errors: Error[], signal = new AbortController().signal) {
  let attempts = 0
  const work = () => {
    const error = errors[attempts++]
    return error === undefined ? Promise.resolve('done') : Promise.reject(error)
  }
  const end = await retryTransient(work, { policy, clock, signal, onRetry: () => undefined }).catch(
    (error: unknown) => error,
  )
  return { attempts, end }
}

test('what cures itself is tried until then', async () => {
  expect(await attemptsUntilEnd([away(), away()])).toEqual({ attempts: 3, end: 'done' })
})

test('the last error is thrown when the attempts are used up', async () => {
  expect(await attemptsUntilEnd([away(), away(), away()])).toMatchObject({
    attempts: 3,
    end: { code: 'AWAY' },
  })
})

test.each([new PermanentError('BAD', 'never'), new TypeError('a mistake')])(
  '%s is not tried again',
  async (error) => {
    expect(await attemptsUntilEnd([error])).toEqual({ attempts: 1, end: error })
  },
)

test('work that takes longer than patience lasts is put off, and goes on where it left off', async () => {
  let nowMs = 0
  const time: Clock = { now: () => nowMs, sleep: (ms) => Promise.resolve(void (nowMs += ms)) }
  const patient = {
    policy: { ...policy, attempts: 5 },
    clock: time,
    onRetry: () => undefined,
    patienceMs: 299,
  }
  const signal = new AbortController().signal
  const failing = () => Promise.reject(away())
  const putOff = await retryTransient(failing, { ...patient, signal }).catch((error: unknown) => error)
  expect(putOff).toBeInstanceOf(Postponed)
  const { failedAttempts: failedBefore } = putOff as Postponed
  expect(failedBefore).toBeLessThan(5)
  await expect(retryTransient(failing, { ...patient, signal, failedBefore: 4 })).rejects.toThrow('not now')
})

test('waiting ends when the consumer stops', async () => {
  const { attempts, end } = await attemptsUntilEnd([away()], AbortSignal.abort())
  expect(attempts).toBe(1)
  expect(end).toBeInstanceOf(Interrupted)
})
