import { expect, test } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import { announceJudge } from './announce-judge.ts'

test('it notes again every minute, also after a failure, until it is stopped', async () => {
  let noted = 0
  const note = () => {
    noted++
    return noted === 1 ? Promise.reject(new Error('away')) : Promise.resolve()
  }
  const slept: number[] = []
  const enough = Promise.withResolvers<undefined>()
  const clock = {
    now: () => 0,
    sleep: (delayMs: number, signal?: AbortSignal) => {
      slept.push(delayMs)
      if (slept.length < 3) return Promise.resolve()
      enough.resolve(undefined)
      return new Promise<void>((resolve) => {
        signal?.addEventListener('abort', () => resolve())
      })
    },
  }
  const part = announceJudge({ note, clock, log: createLog('test', 'silent') })
  await part.start()
  await enough.promise
  await part.stop()
  expect(noted).toBe(3)
  expect(slept).toEqual([60_000, 60_000, 60_000])
})
