import { expect, test } from '@jest/globals'
import { systemClock } from '#runtime/clock.ts'
import type { Admission, QuotaStore } from '../stores/quota-store.ts'
import { createAdmit } from './admit-together.ts'

function admission(ids: readonly string[]): Admission {
  return { admitted: new Set(ids), tier: 'free', limit: 10_000, periodStartMs: 0, periodResetAtMs: 1 }
}

test('what arrives during a call goes together into the next, each project by itself', async () => {
  const calls: [string, readonly string[]][] = []
  const first = Promise.withResolvers<undefined>()
  const quota: QuotaStore = {
    admit: async (projectId, ids) => {
      calls.push([projectId, ids])
      if (calls.length === 1) await first.promise
      return admission(ids)
    },
  }
  const admit = createAdmit(quota, systemClock)
  const answers = [admit('a', ['1']), admit('a', ['2', '3']), admit('a', ['4']), admit('b', ['5'])]
  await answers[3]
  first.resolve(undefined)
  await Promise.all(answers)
  // Even when the queue is empty.
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
  await admit('a', ['6'])
  expect(calls).toEqual([
    ['a', ['1']],
    ['b', ['5']],
    ['a', ['2', '3', '4']],
    ['a', ['6']],
  ])
})

test('a failure reaches those that were in the call, and the next ones are asked for again', async () => {
  let fail = true
  const admit = createAdmit(
    {
      admit: (_project, ids) => (fail ? Promise.reject(new Error('away')) : Promise.resolve(admission(ids))),
    },
    systemClock,
  )
  const asked = [admit('a', ['1']), admit('a', ['2']), admit('a', ['3'])]
  for (const each of asked) await expect(each).rejects.toThrow('away')
  fail = false
  expect((await admit('a', ['1'])).admitted).toEqual(new Set(['1']))
})
