import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { createPriceTable } from './price-table.ts'

const prices = createPriceTable({
  prices: [
    {
      model: 'gpt-4o',
      input: 2.5,
      cached_input: 1.25,
      output: 10,
      as_of: '2025-10-15',
      source: 'https://example.com/',
    },
    {
      model: 'gpt-4o-2024-05-13',
      input: 5,
      cached_input: null,
      output: 15,
      as_of: '2025-10-15',
      source: 'https://example.com/',
    },
  ],
})
const tokens = (
  prompt: number | null,
  completion: number | null,
  cached: number | null = null,
  reasoning: number | null = null,
) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  cached_tokens: cached,
  reasoning_tokens: reasoning,
})

describe('the cost of a call', () => {
  test.each([
    ['prompt and completion', 'gpt-4o', tokens(1_000_000, 1_000_000), 12.5],
    ['cached tokens at their own price, once', 'gpt-4o', tokens(600_000, 0, 400_000), 2],
    [
      'cached tokens at the full price where there is no other',
      'gpt-4o-2024-05-13',
      tokens(0, 0, 1_000_000),
      5,
    ],
    ['reasoning tokens as output', 'gpt-4o', tokens(0, 100_000, null, 900_000), 10],
    ['a dated version at the price of its model', 'gpt-4o-2024-08-06', tokens(1_000_000, 0), 2.5],
    ['a dated version with a price of its own', 'gpt-4o-2024-05-13', tokens(1_000_000, 0), 5],
    ['a host in front of the name', 'openai/GPT-4o', tokens(1_000_000, 0), 2.5],
    ['one count that is unknown', 'gpt-4o', tokens(1_000_000, null), 2.5],
  ])('counts %s', (_name, model, counts, cost) => {
    expect(prices.costOf(model, counts)).toBeCloseTo(cost, 10)
  })

  test.each([
    ['the model', 'gpt-4o-max', tokens(1, 1)],
    ['the token counts', 'gpt-4o', tokens(null, null)],
  ])('is unknown, not 0, without %s', (_name, model, counts) => {
    expect(prices.costOf(model, counts)).toBeNull()
  })
})

test('infra/prices.json is a price table and names no model twice', () => {
  const content = JSON.parse(readFileSync('infra/prices.json', 'utf8')) as { prices: { model: string }[] }
  expect(createPriceTable(content).costOf('gpt-4o-mini', tokens(1_000_000, 0))).toBe(0.15)
  expect(new Set(content.prices.map(({ model }) => model)).size).toBe(content.prices.length)
})
