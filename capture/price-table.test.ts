import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { createPriceTable } from './price-table.ts'
import type { TokenCounts } from './token-cost.ts'
import { usageOf } from './usage.ts'

const prices = createPriceTable([
  { provider: 'openai', models: ['gpt-4o'], input: 2.5, cached_input: 1.25, output: 10 },
  { provider: 'openai', models: ['gpt-4o-2024-05-13'], input: 5, output: 15 },
  {
    provider: 'anthropic',
    models: ['claude-sonnet-4-5'],
    input: 3,
    cached_input: 0.3,
    cache_write: 3.75,
    cache_write_1h: 6,
    output: 15,
    long: { above: 200_000, input: 6, cached_input: 0.6, output: 22.5 },
  },
  {
    provider: 'bedrock',
    models: ['claude-sonnet-4-5', 'us.anthropic.claude-sonnet-4-5'],
    input: 3.3,
    output: 16.5,
  },
  { provider: 'bedrock', models: ['global.anthropic.claude-sonnet-4-5'], input: 3, output: 15 },
  { provider: 'groq', models: ['llama-3.3-70b-versatile'], input: 0.59, output: 0.79 },
  { models: ['my-own-model'], input: 1, output: 1 },
  { models: ['my-own-cache'], input: 1, cache_write: 2, output: 1 },
])
const tokens = (
  prompt: number | null,
  completion: number | null,
  cached: number | null = null,
  reasoning: number | null = null,
): TokenCounts => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  cached_tokens: cached,
  reasoning_tokens: reasoning,
})
const million = tokens(1_000_000, 0)

describe('the cost of a call', () => {
  test.each([
    ['prompt and completion', 'gpt-4o', tokens(1_000_000, 1_000_000), 12.5],
    ['cached tokens at their own price, once', 'gpt-4o', tokens(600_000, 0, 400_000), 2],
    ['cached tokens at the full price where there is no other', 'gpt-4o-2024-05-13', tokens(0, 0, 1e6), 5],
    ['reasoning tokens as output', 'gpt-4o', tokens(0, 100_000, null, 900_000), 10],
    ['one count that is unknown', 'gpt-4o', tokens(1_000_000, null), 2.5],
    [
      'what was written to a cache apart from the rest',
      'claude-sonnet-4-5',
      { ...tokens(100_000, 0), written_tokens: 60_000, written_hour_tokens: 20_000 },
      (40_000 * 3 + 40_000 * 3.75 + 20_000 * 6) / 1e6,
    ],
    [
      'what was written to a cache as the rest, where that has no price of its own',
      'my-own-model',
      { ...tokens(100_000, 0), written_tokens: 60_000, written_hour_tokens: 20_000 },
      0.1,
    ],
    [
      'a long call at other rates, as a whole',
      'claude-sonnet-4-5',
      tokens(150_000, 1_000, 50_001),
      0.9525006,
    ],
    ['a call at the bound at the usual rates', 'claude-sonnet-4-5', tokens(150_000, 0, 50_000), 0.465],
  ])('counts %s', (_name, model, counts, cost) => {
    expect(prices.costOf({ model, provider: null }, counts)).toBeCloseTo(cost, 10)
  })

  test.each([
    ['a dated version at the price of its model', 'gpt-4o-2024-08-06', 'openai', 2.5],
    ['a dated version with a price of its own', 'gpt-4o-2024-05-13', 'openai', 5],
    ['a host in front of the name', 'openai/GPT-4o', null, 2.5],
    ['a host in other letters', 'llama-3.3-70b-versatile', 'Groq', 0.59],
    ["a host without a price of its own at the maker's", 'gpt-4o', 'azure', 2.5],
    ["a model on one's own machine, where any host has it", 'my-own-model', 'ollama', 1],
    ['a model of Bedrock', 'anthropic.claude-sonnet-4-5-20250929-v1:0', 'bedrock', 3.3],
    ['a region of Bedrock', 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0', 'bedrock', 3.3],
    [
      'a region of Bedrock for governments',
      'us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0',
      'bedrock',
      3.3,
    ],
    [
      'a region of Bedrock with a price of its own',
      'global.anthropic.claude-sonnet-4-5-20250929-v1:0',
      'bedrock',
      3,
    ],
    ['Bedrock, by the name alone', 'apac.anthropic.claude-sonnet-4-5-20250929-v1:0', 'anthropic', 3.3],
    ['a model of an operator', 'my-own-model', 'whoever', 1],
  ])('is that of %s', (_name, model, provider, cost) => {
    const counts = model.includes('claude') ? tokens(100_000, 0) : million
    expect(prices.costOf({ model, provider }, counts)).toBeCloseTo(
      cost * ((counts.prompt_tokens ?? 0) / 1e6),
      10,
    )
  })

  test.each([
    ['the model', 'gpt-4o-max', 'openai', tokens(1, 1)],
    ['the host of a model that many hosts serve', 'llama-3.3-70b-versatile', null, tokens(1, 1)],
    ['the token counts', 'gpt-4o', 'openai', tokens(null, null)],
    ['a fine-tuned model', 'ft:gpt-4o-2024-08-06:acme::abc', 'openai', tokens(1, 1)],
    [
      'the price of what is kept for an hour',
      'my-own-cache',
      'whoever',
      { ...tokens(100, 0), written_tokens: 60, written_hour_tokens: 20 },
    ],
    ['the price of audio', 'gpt-4o', 'openai', { ...tokens(9, 0), parts: { audio_input: 1 } }],
    ["a price for one's own machine", 'gpt-4o', 'Ollama', million],
    ['a hostile name', '__proto__', 'constructor', tokens(1, 1)],
  ])('is unknown, not 0, without %s', (_name, model, provider, counts) => {
    expect(prices.costOf({ model, provider }, counts)).toBeNull()
  })
})

test.each([
  ['flex', 0.5],
  ['priority', 3],
  ['default', 1],
  [null, 1],
])('a call that %s served costs %d times as much', (serviceTier, times) => {
  const rates = { input: 1, cached_input: 2, cache_write: 3, output: 4 }
  const long = { above: 1_000_000, input: 10, output: 10 }
  const table = createPriceTable([{ models: ['m'], ...rates, long, tiers: { flex: 0.5, priority: 3 } }])
  const cost = (counts: TokenCounts) => table.costOf({ model: 'm', provider: null, serviceTier }, counts)
  const million = 1_000_000
  expect(cost({ ...tokens(million, million, 0, 0), written_tokens: million })).toBe(7 * times)
  expect(cost(tokens(0, 0, million, 0))).toBe(2 * times)
  expect(cost(tokens(million, million, million, 0))).toBe(30 * times)
})

test.each(['scale', 'auto', 'constructor'])(
  'the cost of a call that the tier %s served is unknown',
  (serviceTier) => {
    const table = createPriceTable([{ models: ['m'], input: 1, output: 1, tiers: { flex: 0.5 } }])
    expect(table.costOf({ model: 'm', provider: null, serviceTier }, million)).toBeNull()
  },
)

const count = fc.integer({ min: 0, max: 10_000_000 })

describe('no token is paid for twice', () => {
  // At one dollar per token, the cost is the number of billed tokens.
  const dollar = 1_000_000
  const counting = createPriceTable([
    {
      models: ['m'],
      input: dollar,
      cached_input: dollar,
      cache_write: dollar,
      output: dollar,
      cache_write_1h: dollar,
    },
  ])
  const billed = (usage: object) => {
    const read = usageOf({ usage })
    return counting.costOf(
      { model: 'm', provider: null },
      {
        ...tokens(read.promptTokens, read.completionTokens, read.cachedTokens, read.reasoningTokens),
        written_tokens: read.writtenTokens,
        written_hour_tokens: read.writtenHourTokens,
      },
    )
  }

  test('where parts are counted in the whole (OpenAI)', () => {
    fc.assert(
      fc.property(
        count,
        count,
        fc.double({ min: 0, max: 1 }),
        fc.double({ min: 0, max: 1 }),
        (p, c, x, y) => {
          const usage = {
            prompt_tokens: p,
            completion_tokens: c,
            total_tokens: p + c,
            prompt_tokens_details: {
              cached_tokens: Math.floor(p * x),
              cache_write_tokens: Math.floor(p * y),
            },
            completion_tokens_details: { reasoning_tokens: Math.floor(c * y) },
          }
          expect(billed(usage)).toBe(p + c)
        },
      ),
    )
  })

  test('where parts are counted beside (Anthropic)', () => {
    fc.assert(
      fc.property(count, count, count, count, (input, output, read, written) => {
        const usage = {
          input_tokens: input,
          output_tokens: output,
          cache_read_input_tokens: read,
          cache_creation_input_tokens: written,
          cache_creation: { ephemeral_1h_input_tokens: Math.floor(written / 2) },
        }
        expect(billed(usage)).toBe(input + output + read + written)
      }),
    )
  })

  test('whatever a provider claims: never more than every number added up', () => {
    const claim = fc.oneof(count, fc.constant(undefined), fc.constant(-1), fc.constant('7'))
    fc.assert(
      fc.property(claim, claim, claim, claim, claim, (p, c, cached, written, reasoning) => {
        const usage = {
          prompt_tokens: p,
          completion_tokens: c,
          prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
          completion_tokens_details: { reasoning_tokens: reasoning },
        }
        const sum = [p, c, cached, reasoning]
          .filter((value) => typeof value === 'number' && value > 0)
          .reduce<number>((total, value) => total + Number(value), 0)
        expect(billed(usage) ?? 0).toBeLessThanOrEqual(sum)
      }),
    )
  })

  test('and more tokens never cost less', () => {
    const counts = fc.record({
      prompt_tokens: count,
      completion_tokens: count,
      cached_tokens: count,
      reasoning_tokens: count,
    })
    const call = { model: 'claude-sonnet-4-5', provider: 'anthropic' }
    fc.assert(
      fc.property(
        counts,
        fc.constantFrom('prompt_tokens', 'completion_tokens', 'cached_tokens'),
        (given, more) => {
          const raised = { ...given, [more]: given[more] + 1_000 }
          expect(Number(prices.costOf(call, raised))).toBeGreaterThan(Number(prices.costOf(call, given)))
        },
      ),
    )
  })
})
