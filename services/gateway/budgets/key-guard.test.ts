import { beforeEach, expect, test } from '@jest/globals'
import { createPriceTable } from '#capture/price-table.ts'
import { noLimits } from '#schemas/key-limits.ts'
import { picodollarsOf } from '#schemas/picodollars.ts'
import type { Admitted } from './key-budget.ts'
import { checkOf, overRate, type KeyCheck, type KeyGuard } from './key-guard.ts'
import { createRateLimits } from './rate-limits.ts'

let settled: bigint[] = []
let answer: Promise<Admitted> = Promise.resolve('admitted')
const guard: KeyGuard = {
  rates: createRateLimits(() => 0),
  prices: createPriceTable([{ models: ['m'], input: 1, output: 1, call: 0.5 }]),
  now: () => Date.UTC(2026, 10, 30),
  budgets: {
    spend: () => ({ month: '2026-11-01', admitted: answer, settle: (cost) => settled.push(cost) }),
    stop: () => Promise.resolve(),
  },
}
const limits = { ...noLimits, keyId: 'key_a' }
const withBudget = { ...limits, monthlyBudgetUsd: 20 }
const call = {
  method: 'POST',
  path: '/v1/chat/completions',
  upstream: { hostname: '127.0.0.1', provider: undefined },
  contentType: 'application/json',
  contentEncoding: undefined,
}
const body = Buffer.from('{"model":"m","max_tokens":1}')
const begin = async (more: object = {}) => {
  const check = checkOf(withBudget, { ...call, ...more }, guard) as KeyCheck
  return { check, refused: (await check.admit(body))?.answer }
}

beforeEach(() => {
  settled = []
  answer = Promise.resolve('admitted')
})

test.each([
  ['a key without limits', undefined, 'POST', false],
  ['a key with a user alone', { ...limits, user: 'ada' }, 'POST', false],
  ['a model list', { ...limits, models: [] }, 'POST', true],
  ['a budget', withBudget, 'POST', true],
  ['a budget, for a list', withBudget, 'GET', false],
  ['a budget, for any other method', withBudget, 'PUT', true],
])('%s', (_name, given, method, isChecked) => {
  expect(checkOf(given, { ...call, method }, guard) !== undefined).toBe(isChecked)
})

const record = (usage: object | undefined) =>
  Buffer.from(
    JSON.stringify({
      request_body: { model: 'm' },
      response_body: { object: 'chat.completion', model: 'm', choices: [], usage },
    }),
  )
const usage = { prompt_tokens: 1_000_000, completion_tokens: 1_000_000 }

test.each([
  ['was answered', true, 200, record(usage), 2.5],
  ['was answered without usage', true, 200, record(undefined), 'estimate'],
  ['was not recorded', true, 200, undefined, 'estimate'],
  ['failed at the provider', true, 500, record(usage), 0],
  ['got no answer', true, null, undefined, 'estimate'],
  ['was never sent', false, null, undefined, 0],
] as const)('a call that %s is charged once', async (_name, isSent, status, stored, expected) => {
  const { check, refused } = await begin()
  expect(refused).toBeUndefined()
  if (isSent) check.sent()
  check.ended(status, stored)
  check.ended(200)
  await new Promise((resolve) => setImmediate(resolve))
  const [cost = -1n] = settled
  expect(settled).toHaveLength(1)
  if (expected === 'estimate') expect(cost).toBeGreaterThan(picodollarsOf(0.5))
  else expect(cost).toBe(picodollarsOf(expected))
})

test('a call whose application left while it waited costs nothing', async () => {
  const decided = Promise.withResolvers<Admitted>()
  answer = decided.promise
  const check = checkOf(withBudget, call, guard) as KeyCheck
  const admitted = check.admit(body)
  check.ended(null)
  decided.resolve('admitted')
  expect([await admitted, settled]).toEqual([undefined, [0n]])
})

test('a refusal says why, in a sentence', async () => {
  answer = Promise.resolve('exceeded')
  expect((await begin()).refused).toMatchObject({
    status: 429,
    message:
      "What is left of this key's budget of $20 for November 2026 does not suffice for this call; the next month begins at 2026-12-01T00:00:00.000Z.",
    retryAfterSeconds: 86_400,
  })
  answer = Promise.resolve('unknown')
  expect((await begin()).refused).toMatchObject({ status: 503, code: 'budget_check_unavailable' })
  expect(settled).toEqual([])
})

test('counting tokens costs nothing; forms cannot be read', async () => {
  answer = Promise.resolve('exceeded')
  expect((await begin({ path: '/v1/messages/count_tokens?beta=true' })).refused).toBeUndefined()
  const form = { contentType: 'multipart/form-data; boundary=x' }
  expect((await begin(form)).refused).toMatchObject({ status: 403, code: 'model_unknown' })
})

test('a rate has its answer', () => {
  const slow = { ...limits, ratePerMinute: 1 }
  expect(overRate(slow, guard)).toBeUndefined()
  expect(overRate(slow, guard)).toMatchObject({ status: 429, retryAfterSeconds: 60 })
  expect(overRate(limits, guard)).toBeUndefined()
})
