import { expect, test } from '@jest/globals'
import { createSealer, type Sealer } from '#runtime/sealing.ts'
import { answers, asks, sampleJob } from '../testing/sample-job.ts'
import { openCall } from './open-call.ts'

/** A sealer that counts opened bodies. */
function countingSealer(): Sealer & { opened: () => number } {
  const sealer = createSealer([])
  let count = 0
  return {
    ...sealer,
    open: (...sealed) => {
      count += 1
      return sealer.open(...sealed)
    },
    opened: () => count,
  }
}

test.each([
  ['a small call is kept open until it is read', 5_000, 2],
  ['a large call is closed until it is read', 500, 4],
])('%s', (_name, smallBytes, times) => {
  const sealer = countingSealer()
  const job = sampleJob(sealer, { request: asks('hello'), response: answers('hi') })
  const opened = openCall(job, sealer, smallBytes)
  if ('unreadable' in opened) throw new Error(opened.unreadable)
  expect(opened.heapBytes).toBeGreaterThan(500)
  expect(opened.heapBytes).toBeLessThan(5_000)
  expect(sealer.opened()).toBe(2)
  expect(opened.read()).toMatchObject({
    request: { value: asks('hello') },
    response: { value: answers('hi') },
  })
  expect(sealer.opened()).toBe(times)
})

test('a call without its request cannot be read', () => {
  const sealer = createSealer([])
  expect(openCall(sampleJob(sealer, { response: answers('hi') }), sealer, 5_000)).toEqual({
    unreadable: 'bodies_missing',
  })
})
