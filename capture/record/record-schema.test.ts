import { expect, test } from '@jest/globals'
import { recordSchema } from './record-schema.ts'

const deep = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)

test.each([
  ['8 levels', deep(8), undefined],
  ['9 levels', deep(9), 'must not be nested deeper than 8 levels'],
  ['100,000 levels', deep(100_000), 'must not be nested deeper than 8 levels'],
  ['16 KiB', { text: 'x'.repeat(16 * 1024 - '{"text":""}'.length) }, undefined],
  [
    'a byte more',
    { text: 'x'.repeat(16 * 1024 - '{"text":""}'.length + 1) },
    'must be at most 16384 bytes of JSON',
  ],
])('metadata of %s', (_name, metadata, fault) => {
  const { error } = recordSchema.safeParse({ request_body: {}, metadata })
  expect(error?.issues.map(({ path, message }) => [path, message])).toEqual(
    fault === undefined ? undefined : [[['metadata'], fault]],
  )
})

test.each([
  ['context', 'messages', [['context'], 'must be a list']],
  ['context', ['messages'], [['context'], expect.stringMatching(/^must be message indexes/)]],
  ['context', [-1], [['context'], expect.stringMatching(/^must be message indexes/)]],
])('a wrong %s: %j', (name, value, issue) => {
  const { error } = recordSchema.safeParse({ request_body: {}, [name]: value })
  expect(error?.issues.map(({ path, message }) => [path, message])).toEqual([issue])
})

test('null is as good as absent, but for the request body', () => {
  const nulls = Object.fromEntries(Object.keys(recordSchema.shape).map((name) => [name, null]))
  const { id, project_id, source, bodies_erased } = recordSchema.parse({ ...nulls, request_body: {} })
  expect({ id, project_id, source, bodies_erased }).toEqual({ source: 'api', bodies_erased: false })
})

test.each([
  ['a count below nothing', { web_search: -1 }, ['billed_parts', 'web_search']],
  ['half a use', { web_search: 0.5 }, ['billed_parts', 'web_search']],
  ['101 names', Object.fromEntries(Array.from({ length: 101 }, (_, index) => [index, 1])), ['billed_parts']],
])('billed parts with %s are refused', (_name, billed_parts, path) => {
  const { error } = recordSchema.safeParse({ request_body: {}, billed_parts })
  expect(error?.issues.map((issue) => issue.path)).toEqual([path])
})
