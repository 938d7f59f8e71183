import { expect, test } from '@jest/globals'
import { joinParts, splitParts } from './billed-parts.ts'
import { createPriceTable } from './price-table.ts'
import type { TokenCounts } from './token-cost.ts'

const tokens = (prompt: number, completion: number, cached = 0): TokenCounts => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  cached_tokens: cached,
  reasoning_tokens: 0,
})

test('parts of the tokens cost what they have a rate for, and are never more than their whole', () => {
  const rates = {
    input: 1,
    cached_input: 0.5,
    output: 10,
    audio_input: 4,
    audio_cached_input: 2,
    image_output: 50,
  }
  const table = createPriceTable([
    { models: ['m'], ...rates, long: { above: 5e6, ...rates, audio_input: 8 } },
  ])
  const cost = (counts: TokenCounts) => table.costOf({ model: 'm', provider: null }, counts)
  const counts = tokens(1e6, 1e6, 1e6)
  expect(cost(counts)).toBe(11.5)
  const parts = { audio_input: 4e5, image_input: 3e5, audio_cached_input: 1e6, image_output: 5e5 }
  expect(cost({ ...counts, parts })).toBe(0.6 + 1.6 + 2 + 5 + 25)
  expect(cost({ ...counts, parts: { audio_input: 9e9 } })).toBe(4 + 0.5 + 10)
  expect(cost({ ...tokens(6e6, 0), parts: { audio_input: 6e6 } })).toBe(48)
})

test('fees hold once for each use, or once for a call, and not at another host', () => {
  const uses = { search: 0.25, maps: { per_call: 0.5 }, fetch: 0 }
  const table = createPriceTable([
    { provider: 'openai', models: ['gpt'], input: 1, output: 1, call: 2, uses },
  ])
  const cost = (used: Record<string, number>, provider: string | null = 'OpenAI') =>
    table.costOf({ model: 'gpt', provider, uses: used }, tokens(0, 0))
  expect(cost({})).toBe(2)
  expect(cost({ search: 3, maps: 3, fetch: 9 })).toBe(2 + 0.75 + 0.5)
  expect(cost({ toString: 1 })).toBeNull()
  expect(cost({ search: 1 }, null)).toBe(2.25)
  expect(cost({ search: 1 }, 'azure')).toBeNull()
})

test('tokens and uses go through a record and come back', () => {
  const parts = { tokenParts: { audio_input: 3 }, hostedUses: { web_search: 2 } }
  expect(joinParts(parts)).toEqual({ web_search: 2, audio_input: 3 })
  expect(splitParts({ web_search: 2, audio_input: 3 })).toEqual(parts)
  expect(joinParts({ tokenParts: {}, hostedUses: {} })).toBeUndefined()
})

test('however many tools an answer names, and however long, a record takes them', () => {
  const named = Array.from({ length: 500 }, (_, index) => [`${index}`.padEnd(70, 'x'), 1] as const)
  const joined = joinParts({ tokenParts: {}, hostedUses: Object.fromEntries(named) }) ?? {}
  expect(Object.keys(joined)).toHaveLength(100)
  for (const name of Object.keys(joined)) expect(name.length).toBeLessThanOrEqual(64)
})
