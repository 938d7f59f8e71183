import { expect, test } from '@jest/globals'
import { noLimits } from '#schemas/key-limits.ts'
import { limitsOf, withKeyLabels } from './caller-limits.ts'

test('a key that carries nothing has no limits', () => {
  expect(limitsOf('key_a', noLimits)).toBeUndefined()
  expect(limitsOf('key_a', { ...noLimits, models: [] })).toMatchObject({ keyId: 'key_a', models: [] })
  expect(limitsOf('key_a', { ...noLimits, capture: 'none' })).toMatchObject({ capture: 'none' })
})

const limits = { ...noLimits, keyId: 'key_a', user: 'ada', team: 'search' }
test.each([
  [{}, { user_id: 'ada', metadata: '{"team":"search"}' }],
  [{ user_id: 'bob' }, { user_id: 'bob', metadata: '{"team":"search"}' }],
  [{ metadata: '{"env":"ci"}' }, { user_id: 'ada', metadata: '{"team":"search","env":"ci"}' }],
  [{ metadata: '{"team":"ads"}' }, { user_id: 'ada', metadata: '{"team":"ads"}' }],
])('labels %j become %j', (labels, expected) => {
  expect(withKeyLabels(labels, limits)).toEqual(expected)
})

test('metadata that would be too large stays as it is', () => {
  const metadata = JSON.stringify({ x: 'x'.repeat(16 * 1024 - 10) })
  expect(withKeyLabels({ metadata }, limits)).toEqual({ metadata, user_id: 'ada' })
})
