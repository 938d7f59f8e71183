import { expect, test } from '@jest/globals'
import { createPriceTable } from '#capture/price-table.ts'
import { estimateCall } from './estimate-call.ts'

// A picodollar a token of input, a thousand of output.
const prices = createPriceTable([
  { models: ['small'], input: 1e-6, output: 1e-3 },
  { models: ['large'], input: 1e-5, output: 1e-2 },
])
const estimate = (body: Record<string, unknown>, more: object = {}) =>
  estimateCall(
    { models: ['small'], provider: null, path: '/v1/chat/completions', body, byteLength: 400, ...more },
    prices,
  )
/** Without its input. */
const outputOf = (body: Record<string, unknown>, more: object = {}) =>
  Number((estimate(body, more) ?? 0n) / 1_000n)

test.each([
  ['the usual, without a limit', {}, 4_096],
  ['a limit', { max_tokens: 10 }, 10],
  ['the larger of two', { max_tokens: 10, max_completion_tokens: 20 }, 20],
  ['Google’s', { generationConfig: { maxOutputTokens: 30, candidateCount: 2 } }, 60],
  ['Bedrock’s', { inferenceConfig: { maxTokens: 40 } }, 40],
  ['Ollama’s', { options: { num_predict: 50 } }, 50],
  ['of several answers', { max_tokens: 10, n: 3 }, 30],
  ['of several prompts', { max_tokens: 10, prompt: ['a', 'b'] }, 20],
  ['none below one', { max_tokens: -1 }, 4_096],
])('output is estimated by %s', (_name, body, tokens) => {
  expect(outputOf(body)).toBe(tokens)
})

test('embeddings have no output', () => {
  expect(outputOf({ input: 'x' }, { path: '/v1/embeddings' })).toBe(0)
})

test('input is a token for four bytes, and 1,600 for what is no text', () => {
  const only = (body: Record<string, unknown>) => Number(estimate(body, { path: '/v1/embeddings' }))
  const [empty, text] = [only({ input: '' }), only({ input: 'wort '.repeat(800) })]
  expect(text - empty).toBe(1_000)
  expect(only({ input: 'A'.repeat(1_000_000) }) - empty).toBe(1_600)
  expect(only({ input: 'ä '.repeat(400) }) - empty).toBe(300)
})

test('a body that cannot be read counts with all its bytes', () => {
  expect(Number(estimate({}, { body: undefined, path: '/v1/embeddings' }))).toBe(100)
})

test('of several models the dearest counts, and one without a price has none', () => {
  expect(outputOf({ max_tokens: 10 }, { models: ['small', 'large'] })).toBe(100)
  expect(estimate({}, { models: ['small', 'unknown'] })).toBeNull()
  expect(estimate({}, { models: [] })).toBeNull()
})
