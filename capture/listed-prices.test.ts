import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { createPriceTable, type Price } from './price-table.ts'
import type { TokenCounts } from './token-cost.ts'

/** A tenth of a million tokens. */
const counts: TokenCounts = {
  prompt_tokens: 100_000,
  completion_tokens: 0,
  cached_tokens: null,
  reasoning_tokens: null,
}

describe('infra/prices.json', () => {
  const list = JSON.parse(readFileSync('infra/prices.json', 'utf8')) as {
    prices: (Price & { provider: string })[]
    sources: Record<string, string>
  }

  test('names no model of a provider twice, and a source for every provider', () => {
    const named = list.prices.flatMap(({ provider, models }) => models.map((model) => `${provider} ${model}`))
    expect(named.filter((name, index) => named.indexOf(name) !== index)).toEqual([])
    for (const { provider } of list.prices) expect(list.sources).toHaveProperty(provider)
  })

  test.each([
    ['openai', 'gpt-4o-mini-2024-07-18', 0.15],
    ['openai', 'gpt-6.2-sol', 2],
    ['openai', 'gpt-6-luna', 0.1],
    ['openai', 'gpt-6-astra', 10],
    ['anthropic', 'claude-opus-4-5-20251101', 5],
    ['anthropic', 'claude-opus-5-5', 4],
    ['anthropic', 'claude-sonnet-5', 2],
    ['anthropic', 'claude-fable-5-1', 10],
    ['google', 'gemini-2.5-flash', 0.3],
    ['google', 'gemini-3.8-flash', 0.75],
    ['xai', 'grok-4.7', 2],
    ['deepseek', 'deepseek-flash', 0.15],
    ['mistral', 'mistral-large-latest', 0.5],
    ['mistral', 'mistral-medium-latest', 1.5],
    ['cohere', 'command-a-03-2025', 2.5],
    ['bedrock', 'us.anthropic.claude-haiku-4-5-20251001-v1:0', 1.1],
    ['bedrock', 'meta.llama3-3-70b-instruct-v1:0', 0.72],
    ['azure', 'gpt-4.1-2025-04-14', 2],
    ['groq', 'llama-3.3-70b-versatile', 0.59],
    ['together', 'meta-llama/Llama-3.3-70B-Instruct-Turbo', 0.88],
    ['fireworks', 'accounts/fireworks/models/llama-v3p1-8b-instruct', 0.2],
    ...['', 'us.', 'eu.', 'apac.'].map((region) => [null, `${region}amazon.nova-pro-v1:0`, 0.8] as const),
    [null, 'us.meta.llama3-3-70b-instruct-v1:0', 0.72],
    [null, 'us.anthropic.claude-haiku-4-5-20251001-v1:0', 1.1],
  ])('knows %s %s', (provider, model, cost) => {
    expect(createPriceTable(list.prices).costOf({ model, provider }, counts)).toBeCloseTo(cost / 10, 10)
  })

  test.each([
    ['openai', 'gpt-4o-mini', 'priority', 0.25],
    ['openai', 'gpt-5.5', 'priority', 12.5],
    ['openai', 'gpt-5.5', 'flex', 2.5],
    ['anthropic', 'claude-opus-4-6', 'fast', 30],
    ['anthropic', 'claude-sonnet-5', 'batch', 1],
  ])('knows %s %s of the tier %s', (provider, model, serviceTier, cost) => {
    const table = createPriceTable(list.prices)
    expect(table.costOf({ model, provider, serviceTier }, counts)).toBeCloseTo(cost / 10, 8)
  })
})
