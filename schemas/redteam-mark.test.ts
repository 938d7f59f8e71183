import { hash } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { examineRedteamMark, makeRedteamMark, redteamMarkSecret } from './redteam-mark.ts'

const secret = 'a-secret-of-the-operator'
const atMs = 1_790_000_000_500
const body = '{"messages":[]}'
const mark = makeRedteamMark(secret, body, atMs)
const [version = '', seconds = '', nonce = '', mac = ''] = mark.split('.')
const later = [version, String(Number(seconds) + 60), nonce, mac].join('.')
const bytesOf = (text: string) => Buffer.from(text, 'base64url')
const otherwise = Array.from(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
  (digit) => mac.slice(0, -1) + digit,
).filter((text) => text !== mac && bytesOf(text).equals(bytesOf(mac)))
const noBytes = [version, seconds, nonce, '='.repeat(43)].join('.')

test.each<[string, string, string, string, number, string]>([
  ['made for this body', mark, body, secret, atMs, 'genuine'],
  ['of a clock four minutes ahead', mark, body, secret, atMs - 240_000, 'genuine'],
  ['of ten minutes ago', mark, body, secret, atMs + 600_000, 'expired'],
  ['of another body', mark, '{"messages":[1]}', secret, atMs, 'forged'],
  ['of another secret', mark, body, 'another-secret-of-theirs', atMs, 'forged'],
  ['made younger', later, body, secret, atMs, 'forged'],
  ['with another end', `${mark.slice(0, -2)}__`, body, secret, atMs, 'forged'],
  [
    'of the same bytes, spelled otherwise',
    [version, seconds, nonce, otherwise[0]].join('.'),
    body,
    secret,
    atMs,
    'forged',
  ],
  ['with more behind it', `${mark}.x`, body, secret, atMs, 'forged'],
  ['of no bytes', noBytes, body, secret, atMs, 'forged'],
  ['of nothing', '', body, secret, atMs, 'forged'],
])('a mark %s', (_name, given, of, withSecret, arrivedMs, expected) => {
  const request = { sha256: hash('sha256', of, 'hex'), arrivedMs }
  expect(examineRedteamMark(given, withSecret, request)).toBe(expected)
})

test('bytes can be spelled otherwise', () => {
  expect(otherwise).toHaveLength(3)
})

test('two requests with one body in one second have two marks', () => {
  expect(makeRedteamMark(secret, body, atMs)).not.toBe(mark)
})

test('its own secret goes before the operator’s', () => {
  expect(redteamMarkSecret({ REDTEAM_MARK_SECRET: 'own', INTERNAL_API_SECRET: secret })).toBe('own')
  expect(redteamMarkSecret({ INTERNAL_API_SECRET: secret })).toBe(secret)
  expect(redteamMarkSecret({})).toBeUndefined()
})
