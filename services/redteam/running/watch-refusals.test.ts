import { expect, test } from '@jest/globals'
import type { MadeAttempt } from './make-attempt.ts'
import { watchRefusals } from './watch-refusals.ts'

const exchange = { requestBody: {}, responseBody: {}, latencyMs: 1 }
const answered = { kind: 'answered', ...exchange, text: 'No.', statusCode: 200 } as const
const failed = { kind: 'failed', ...exchange, statusCode: 401, error: 'HTTP_401' } as const
const made: Readonly<Record<string, MadeAttempt>> = {
  a: { last: answered, earlier: [] },
  f: { last: failed, earlier: [] },
  u: { last: { kind: 'given_up', error: 'UNREACHED' }, earlier: [] },
  s: { last: { kind: 'stopped', error: 'STOPPED' }, earlier: [] },
  // Aborted in the middle of a conversation.
  m: { last: failed, earlier: [answered] },
}

test.each<[string, string, number]>([
  ['none failed', 'aaaaaaaaaa', 0],
  ['all but one failed of a short run', 'aff', 1],
  ['five failed in a row', 'afffffa', 1],
  ['ten failed in a row, the last ones', 'aaffffffffff', 3],
  ['four failed in a row', 'affffa', 0],
  ['five were not reached', 'auuuuua', 1],
  ['the run was stopped', 'ss', 0],
  ['conversations broke off', 'mmmmmm', 0],
  ['a tenth failed at the end', 'aaaaaaaaaf', 1],
  ['less than a tenth failed at the end', 'aaaaaaaaaaf', 0],
])('where %s, a harmless call is made as often as it can tell something', async (_name, attempts, times) => {
  let checks = 0
  const check = () => {
    checks++
    return Promise.resolve()
  }
  const refusals = watchRefusals(check, true)
  for (const name of attempts) await refusals.note(made[name] as MadeAttempt)
  await refusals.end()
  expect(checks).toBe(times)
})

test('what the check finds ends the run', async () => {
  const refusals = watchRefusals(() => Promise.reject(new Error('status 401')), true)
  await refusals.note(made['f'] as MadeAttempt)
  await expect(refusals.end()).rejects.toThrow('status 401')
})

test('a target that answered no attempt of the run at all ends it, though it answers harmless calls', async () => {
  const [whole, resumed] = [true, false].map((isWhole) => watchRefusals(() => Promise.resolve(), isWhole))
  for (const refusals of [whole, resumed]) await refusals?.note(made['f'] as MadeAttempt)
  await expect(whole?.end()).rejects.toThrow('answered none of 1 attempts, the last one with status 401')
  // Earlier attempts may have been answered.
  await expect(resumed?.end()).resolves.toBeUndefined()
})
