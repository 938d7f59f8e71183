import { expect, test } from '@jest/globals'
import { differencesOf } from './compare-exchange.ts'
import type { Exchange } from './exchange.ts'

const upstream = { name: 'anthropic', keyHeader: 'x-api-key' }
const got: Exchange = {
  number: '1',
  method: 'POST',
  path: '/v1/messages?beta=true',
  headers: ['Host', 'provider', 'X-App', 'cli', 'x-api-key', 'the-key-of-the-provider'],
  body: Buffer.from('{ "a": 1 }'),
  answer: { status: 200, headers: ['content-type', 'text/event-stream'], body: Buffer.from('data: 1\n\n') },
}
const sent: Exchange = {
  ...got,
  path: '/anthropic/v1/messages?beta=true',
  headers: ['Host', 'gateway', 'X-App', 'cli', 'x-api-key', 'a-proxy-key', 'X-Service-Key', 'a-proxy-key'],
  answer: { ...got.answer, headers: [...got.answer.headers, 'X-Service-Request-Id', 'req_1'] },
}

test('what a gateway may change is no difference', () => {
  expect(differencesOf(sent, got, upstream)).toEqual([])
})

test.each<[string, Exchange, RegExp]>([
  ['a space in the body', { ...got, body: Buffer.from('{"a": 1 }') }, /^the bytes of the request$/],
  [
    'a byte of the answer',
    { ...got, answer: { ...got.answer, body: Buffer.from('data: 2\n\n') } },
    /answer$/,
  ],
  ['the query', { ...got, path: '/v1/messages' }, /^path: /],
  ['the case of a header', { ...got, headers: ['x-app', 'cli'] }, /^headers: /],
  ['a header of the answer', { ...got, answer: { ...got.answer, headers: [] } }, /^the answer's headers: /],
  ['the status', { ...got, answer: { ...got.answer, status: 201 } }, /^status: 201 became 200$/],
])('%s is one', (_what, other, difference) => {
  expect(differencesOf(sent, other, upstream)).toEqual([expect.stringMatching(difference)])
})
