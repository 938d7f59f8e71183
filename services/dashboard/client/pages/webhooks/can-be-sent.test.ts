import { expect, test } from '@jest/globals'
import { canBeSent } from './can-be-sent.ts'

const nowMs = Date.parse('2026-11-22T12:00:00.000Z')
const ago = (minutes: number) => new Date(nowMs - minutes * 60_000).toISOString()
const attempt = { number: 1, status_code: 503, duration_ms: 1, error: 'x', response_excerpt: null }

test.each([
  ['failed', 1, [1], true],
  ['delivered', 1, [1], true],
  ['pending', 59, [], false],
  ['pending', 61, [], true],
  ['retrying', 90, [89, 59], false],
  ['retrying', 90, [89, 61], true],
] as const)('%s, made %d minutes ago, attempted %j minutes ago: %s', (status, made, attempted, can) => {
  const attempts = attempted.map((minutes) => ({ ...attempt, at: ago(minutes) }))
  expect(canBeSent({ status, created_at: ago(made), attempts }, nowMs)).toBe(can)
})
