import { expect, test } from '@jest/globals'
import { PermanentError, TransientError } from '#runtime/errors.ts'
import { createPatience } from './patience.ts'

const away = () => new TransientError('POSTGRES_UNAVAILABLE', 'away')

/** Work that succeeds at `backAtMs`, in a run stopped at `stopAtMs`. Resolves to when it ended. */
async function endOf({ backAtMs, stopAtMs }: { backAtMs: number; stopAtMs: number }) {
  let nowMs = 0
  const stopping = new AbortController()
  const sleep = (delayMs: number, signal?: AbortSignal) => {
    const isWoken = signal !== undefined && nowMs < stopAtMs && nowMs + delayMs >= stopAtMs
    nowMs = isWoken ? stopAtMs : nowMs + delayMs
    if (nowMs >= stopAtMs) stopping.abort()
    return Promise.resolve()
  }
  const patiently = createPatience({ clock: { now: () => nowMs, sleep }, signal: stopping.signal })
  const work = () => (nowMs < backAtMs ? Promise.reject(away()) : Promise.resolve('done'))
  const outcome = await patiently(work).catch((error: unknown) => (error as TransientError).code)
  return [outcome, nowMs]
}

test('goes on for as long as it takes, and for ten seconds once the run is to stop', async () => {
  const [outcome, endedAtMs] = await endOf({ backAtMs: 3_600_000, stopAtMs: Infinity })
  expect([outcome, Number(endedAtMs) < 3_620_000]).toEqual(['done', true])
  expect(await endOf({ backAtMs: 14_000, stopAtMs: 5_000 })).toEqual(['done', 14_000])
  expect(await endOf({ backAtMs: 16_000, stopAtMs: 5_000 })).toEqual(['POSTGRES_UNAVAILABLE', 15_000])
})

test('what does not pass by itself is told at once', async () => {
  const clock = { now: () => 0, sleep: () => Promise.reject(new Error('slept')) }
  const patiently = createPatience({ clock, signal: new AbortController().signal })
  const refused = new PermanentError('INGEST_REFUSES', 'no')
  await expect(patiently(() => Promise.reject(refused))).rejects.toBe(refused)
})
