import { describe, expect, test } from '@jest/globals'
import { hashOfKey, readCredentials } from './credentials.ts'

const digits = '0123456789abcdef'.repeat(3)

describe('a key', () => {
  test.each([
    ['with a label', `svc_live_${digits}`],
    ['with a longer label', `svc_eu-west_test_${digits}`],
    ['in capitals', `svc_${digits.toUpperCase()}`],
  ])('%s has the hash of its digits alone', (_name, key) => {
    expect(hashOfKey(key)).toEqual(hashOfKey(`svc_${digits}`))
  })

  test.each([
    ['nothing', ''],
    ['another prefix', `sk_${digits}`],
    ['too few digits', `svc_${digits.slice(1)}`],
    ['too many digits', `svc_${digits}0`],
    ['a label of 33 characters', `svc_${'a'.repeat(33)}_${digits}`],
    ['no digits', `svc_${'g'.repeat(48)}`],
    ['something behind it', `svc_${digits}\n`],
  ])('is not %s', (_name, key) => {
    expect(hashOfKey(key)).toBeUndefined()
  })
})

test.each([
  [
    'X-Service-Key wins',
    { 'x-service-key': 'a', authorization: 'Bearer b' },
    { header: 'x-service-key', token: 'a' },
  ],
  ['a bearer token', { authorization: 'bearer b' }, { header: 'authorization', token: 'b' }],
  ['another scheme', { authorization: 'Basic b' }, undefined],
  ['nothing', {}, undefined],
])('credentials: %s', (_name, headers, expected) => {
  expect(readCredentials(headers)).toEqual(expected)
})
