import { expect, test } from '@jest/globals'
import { payloadOf } from './payload-of.ts'

test.each<[string, object, unknown]>([
  ['kept as text is that text', { raw: 'A', encoding: 'utf8' }, 'A'],
  ['in pieces is what they amount to', { raw: 'A', encoding: 'utf8', joined: ['B'] }, ['B']],
  ['in pieces that amount to nothing is its text', { raw: 'A', encoding: 'utf8', joined: [] }, 'A'],
])('a body %s', (_name, body, payload) => {
  expect(payloadOf(body)).toEqual(payload)
})

test.each([
  { raw: 'A', encoding: 'utf8', more: 'B' },
  { raw: 'A', encoding: 'base64' },
  { raw: 'A', joined: ['B'] },
])('somebody’s own fields are all read: %j', (body) => {
  expect(payloadOf(body)).toBe(body)
})
