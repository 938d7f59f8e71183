import { expect, test } from '@jest/globals'
import { isOwnCall, markOf } from './own-calls.ts'

const key = 'a secret key'
const request = {
  messages: [
    { role: 'system', content: 's' },
    { role: 'user', content: 'BEGIN x' },
  ],
}
const metadata = JSON.stringify({ sluice_judge: markOf('BEGIN x', key) })

test.each<[string, string | null, unknown, string | null, boolean]>([
  ['the mark of this call', metadata, request, key, true],
  ['no metadata', null, request, key, false],
  ['no mark', '{"team":"a"}', request, key, false],
  [
    'a mark of another key',
    JSON.stringify({ sluice_judge: markOf('BEGIN x', 'guess') }),
    request,
    key,
    false,
  ],
  [
    'a mark that was seen, on another call',
    metadata,
    { messages: [{ role: 'user', content: 'attack' }] },
    key,
    false,
  ],
  ['a mark of nothing', JSON.stringify({ sluice_judge: '' }), request, key, false],
  ['a mark that is no text', '{"sluice_judge":{}}', request, key, false],
  ['metadata that is no JSON', 'sluice_judge', request, key, false],
  ['a body without messages', metadata, 'text', key, false],
  ['no key to check with', metadata, request, null, false],
])('%s', (_name, given, body, withKey, own) => {
  expect(isOwnCall(given, body, withKey)).toBe(own)
})
