import { expect, test } from '@jest/globals'
import { emptyLimits, limitLines, limitsBody, readLimits, spentOf, type Key } from './key-limits.ts'

const key: Key = {
  id: 'key_01h455vb4pex5vsknk084sn02q',
  name: 'Ada',
  label: null,
  last4: 'cdef',
  scope: 'all',
  user: 'ada',
  team: null,
  models: ['gpt-4o-mini', 'claude-*'],
  capture: 'metadata',
  rate_limit_per_minute: 30,
  monthly_budget_usd: 20,
  when_unknown: 'allow',
  spent_usd: 1.2,
  reserved_usd: 0.5,
  created_at: '2026-11-21T09:30:00.000Z',
  expires_at: null,
  expired: false,
  last_used_at: null,
}

test('the form sends what it reads', () => {
  const { user, team, models, capture, rate_limit_per_minute, monthly_budget_usd, when_unknown } = key
  const limits = { user, team, models, capture, rate_limit_per_minute, monthly_budget_usd, when_unknown }
  expect(limitsBody(readLimits(key))).toEqual(limits)
})

test('an empty form is a key without limits', () => {
  expect(limitsBody({ ...emptyLimits, team: ' ' })).toEqual({
    ...{ user: null, team: null, models: null, capture: 'full' },
    ...{ rate_limit_per_minute: null, monthly_budget_usd: null, when_unknown: 'stop' },
  })
})

test.each([
  [{}, ['Models: gpt-4o-mini, claude-*', 'Records: no prompts and answers', '30 calls a minute']],
  [
    { models: ['a', 'b', 'c', 'd', 'e'], capture: 'full' },
    ['Models: a, b, c and 2 more', '30 calls a minute'],
  ],
  [{ models: [], rate_limit_per_minute: null, capture: 'full' }, ['Models: none']],
  [{ models: null, rate_limit_per_minute: null, capture: 'full' }, []],
] as const)('with %j it says %j', (more, lines) => {
  expect(limitLines({ ...key, ...more } as Key)).toEqual(lines)
})

test('what is spent stands beside the budget', () => {
  expect(spentOf(key)).toMatch(/1\.20.* of .*20/)
  expect(spentOf({ ...key, monthly_budget_usd: null, spent_usd: null })).toBeNull()
})
