import { expect, test } from '@jest/globals'
import { createPlainYields } from './plain-yields.ts'

function taken(...values: unknown[]) {
  const yields = createPlainYields()
  for (const value of values) yields.add(value)
  return yields.taken()
}
const listed = (...values: unknown[]) => taken(...values).value

test('an answer that comes in pieces is one text, however many', () => {
  const pieces = Array.from({ length: 3_000 }, (_, index) => `${index} `)
  expect(listed('Mail j', 'ane@exa', 'mple.com', 5, ...pieces)).toEqual([
    'Mail jane@example.com',
    5,
    pieces.join(''),
  ])
  expect(listed(...'\u{1f600}'.split(''))).toEqual(['\u{1f600}'])
})

const chunk = (content: string) => ({ choices: [{ index: 0, delta: { content } }] })

test('chunks of a stream are the message that they amount to, however many', () => {
  const words = Array.from({ length: 1_500 }, (_, index) => `${index} `)
  const chunks = ['4111 1111 ', '1111 1111 ', ...words].map(chunk)
  expect(listed(...chunks)).toMatchObject([
    { choices: [{ message: { role: 'assistant', content: `4111 1111 1111 1111 ${words.join('')}` } }] },
  ])
  expect(chunks[0]).toEqual(chunk('4111 1111 '))
  const parts = ['4111 1111 ', '1111 1111'].map((text) => ({
    candidates: [{ content: { parts: [{ text }] } }],
  }))
  expect(listed(...parts)).toMatchObject([
    { candidates: [{ content: { parts: [{ text: '4111 1111 1111 1111' }] } }] },
  ])
})

test('of Anthropic and of the responses format too', () => {
  const events = [
    { type: 'message_start', message: { type: 'message', content: [] } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...['4111 1111 ', '1111 1111'].map((text) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text },
    })),
  ]
  expect(listed(...events)).toMatchObject([{ content: [{ text: '4111 1111 1111 1111' }] }])
  const done = { type: 'response.completed', response: { output_text: 'Hello' } }
  expect(listed({ type: 'response.created', response: {} }, done)).toMatchObject([{ output_text: 'Hello' }])
})

test.each([
  ['something else', [chunk('a'), { note: 'b' }, chunk('c')]],
  ['text', ['a', chunk('c')]],
  ['what throws when it is read', [chunk('a'), { get choices() { throw new Error('no') } }]], // prettier-ignore
  ['what is no JSON', [chunk('a'), { ...chunk('c'), id: 1n }]],
])('chunks with %s among them are listed as they came', (_name, values) => {
  expect(listed(...values)).toHaveLength(values.length)
})

test('what is too long or too much is cut, and says so', () => {
  const long = `${'x'.repeat(65_535)}\u{1f600}`
  expect(listed(long, 'y', 1)).toEqual([`${'x'.repeat(65_535)}… (3 more characters)`, 1])
  expect(listed('x'.repeat(65_536), 'y')).toEqual([`${'x'.repeat(65_536)}… (1 more characters)`])
  const halves = ['x'.repeat(65_535), ...'\u{1f600}'.split('')]
  expect(listed(...halves)).toEqual([`${'x'.repeat(65_535)}… (2 more characters)`])
  const numbers = Array.from({ length: 1_200 }, (_, index) => index)
  expect(listed(...numbers)).toEqual([...numbers.slice(0, 1_000), '[200 more]'])
  const texts = Array.from({ length: 40 }, () => ['x'.repeat(60_000), 1]).flat()
  expect(JSON.stringify(listed(...texts)).length).toBeLessThan(1_200_000)
})

test.each<[string, boolean, unknown[]]>([
  ['values too many', true, Array(1_001).fill(1)],
  ['a text too long', true, ['x'.repeat(65_536), 'y']],
  ['a value too long', true, [['x'.repeat(65_537)]]],
  ['a message too long', true, [chunk('x'.repeat(60_000)), chunk('y'.repeat(60_000))]],
  ['what is whole', false, ['x', 1, { y: 'z' }]],
  ['a whole message', false, Array(2_000).fill(chunk('x'))],
])('of %s it is known whether they were cut: %s', (_name, isCut, values) => {
  expect(taken(...values).isCut).toBe(isCut)
})
