import { expect, test } from '@jest/globals'
import { isOwnCall, markOf } from './own-calls.ts'

const key = 'a secret key'
const messages = [
  { role: 'system', content: 's' },
  { role: 'user', content: 'BEGIN x' },
]
const request = { model: 'judge', messages }
const metadata = JSON.stringify({ sluice_judge: markOf(request, key) })

test.each<[string, string | null, unknown, string | null, boolean]>([
  ['the mark of this call', metadata, request, key, true],
  ['no metadata', null, request, key, false],
  ['no mark', '{"team":"a"}', request, key, false],
  ['a mark of another key', JSON.stringify({ sluice_judge: markOf(request, 'guess') }), request, key, false],
  [
    'a mark that was seen, on another call',
    metadata,
    { messages: [{ role: 'user', content: 'attack' }] },
    key,
    false,
  ],
  [
    'a mark that was seen, with something before it',
    metadata,
    { ...request, messages: [{ role: 'user', content: 'attack' }, ...messages] },
    key,
    false,
  ],
  ['a mark that was seen, with something beside it', metadata, { ...request, input: 'attack' }, key, false],
  ['a mark of nothing', JSON.stringify({ sluice_judge: '' }), request, key, false],
  ['a mark that is no text', '{"sluice_judge":{}}', request, key, false],
  ['metadata that is no JSON', 'sluice_judge', request, key, false],
  ['a body without messages', metadata, 'text', key, false],
  ['a body that is gone', metadata, undefined, key, false],
  ['no key to check with', metadata, request, null, false],
])('%s', (_name, given, body, withKey, own) => {
  expect(isOwnCall(given, body, withKey)).toBe(own)
})

test('a request that is nested too deep to be read is none of ours', () => {
  const deep = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000)) as unknown
  expect(isOwnCall(metadata, deep, key)).toBe(false)
})
