import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { maskRecord } from './mask-record.ts'

const key = Buffer.alloc(32, 5)
const planted = [
  'jane.roe@acme.org',
  '4111 1111 1111 1111',
  'DE89370400440532013000',
  'AKIAIOSFODNN7EXAMPLQ',
  'ghp_0123456789abcdefghijABCDEFGHIJ456789',
  '+49 170 1234567',
]

/** JSON with planted values within sentences, at any depth, also as JSON in strings. */
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc
      .tuple(fc.constantFrom('Mail: ', 'to ', '"', '\n', '{"a":"'), fc.constantFrom(...planted))
      .map(([before, value]) => `${before}${value}`),
    fc.jsonValue({ maxDepth: 1 }),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('content', 'text', 'arguments', 'é', 'x"y'), tie('tree'), { maxKeys: 4 }),
    tie('tree').map((value) => JSON.stringify(value)),
  ),
}))

test('no planted value is left in any form, the structure stays, and masking again changes nothing', () => {
  fc.assert(
    fc.property(tree, (content) => {
      const json = JSON.stringify({ id: 'req_1', request_body: { content } })
      const masked = maskRecord(Buffer.from(json), key)
      const text = masked.toString()
      for (const value of planted) expect(text.replaceAll('\\', '')).not.toContain(value)
      const shape = (given: unknown): unknown =>
        Array.isArray(given)
          ? given.map(shape)
          : typeof given === 'object' && given !== null
            ? Object.fromEntries(Object.entries(given).map(([name, value]) => [name, shape(value)]))
            : typeof given === 'string'
              ? ''
              : given
      const body = (record: string) => (JSON.parse(record) as { request_body: unknown }).request_body
      expect(shape(body(text))).toEqual(shape(body(json)))
      expect(maskRecord(masked, key).toString()).toBe(text)
    }),
    { numRuns: 300 },
  )
})
