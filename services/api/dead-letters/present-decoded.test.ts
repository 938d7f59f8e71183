import { expect, test } from '@jest/globals'
import { schemaExamples } from '#scripts/schema-examples.ts'
import { presentDecoded } from './present-decoded.ts'

test.each([
  ['a long text', 'é'.repeat(1_002), `${'é'.repeat(1_000)}… 2 more characters`],
  ['half a character at the cut', `${'a'.repeat(999)}🙂`, `${'a'.repeat(999)}\ufffd… 1 more characters`],
  ['a long list', Array.from({ length: 52 }, () => 1), [...Array.from({ length: 50 }, () => 1), '… 2 more']],
  ['bytes that are text', Buffer.from('{"a":1}'), '{"a":1}'],
  ['bytes that are none', Buffer.from([255, 254]), { bytes: 2 }],
  [
    'sealed bytes, also those that nothing encrypts',
    { body: { codec: 'none', key_id: null, data: Buffer.from('SAID') } },
    { body: { sealed_bytes: 4, key_id: null } },
  ],
])('%s', (_name, value, shown) => {
  expect(presentDecoded(value)).toEqual(shown)
})

test.each(Object.entries(schemaExamples))('of %s nothing sealed is shown', (_name, value) => {
  const sealed: Buffer[] = []
  JSON.stringify(value, function collect(key, part: unknown) {
    const owner = this as Record<string, unknown>
    if (key === 'data' && 'codec' in owner && Buffer.isBuffer(owner['data'])) sealed.push(owner['data'])
    return part
  })
  const shown = JSON.stringify(presentDecoded(value))
  expect(sealed.length).toBeGreaterThan(0)
  for (const data of sealed) expect(shown).not.toContain(data.toString('utf8'))
  expect(shown.match(/"sealed_bytes":/g)).toHaveLength(sealed.length)
})
