import { expect, test } from '@jest/globals'
import { statedCostOf } from './stated-cost.ts'

const tokens = { prompt_tokens: 194, completion_tokens: 2, total_tokens: 196 }

test.each<[string, object, number | null]>([
  [
    'OpenRouter, by its credits',
    { ...tokens, cost: 0.00014, is_byok: false, cost_details: { upstream_inference_cost: 0.00014 } },
    0.00014,
  ],
  [
    "OpenRouter, with the caller's own key at the provider",
    { ...tokens, cost: 0.05, is_byok: true, cost_details: { upstream_inference_cost: 1 } },
    1.05,
  ],
  [
    "OpenRouter, with the caller's own key at a provider that says nothing",
    { ...tokens, cost: 0, is_byok: true, cost_details: { upstream_inference_cost: null } },
    null,
  ],
  ['OpenRouter, a model that is free', { ...tokens, cost: 0 }, 0],
  ['xAI', { ...tokens, cost_in_usd_ticks: 37_756_000 }, 0.0037756],
  [
    'Perplexity',
    { ...tokens, cost: { input_tokens_cost: 0.001, request_cost: 0.005, total_cost: 0.006 } },
    0.006,
  ],
  ['nobody', tokens, null],
  ['what is no amount', { ...tokens, cost: -1 }, null],
  ['what is absurd', { ...tokens, cost: 1e300 }, null],
])('the cost that an answer states: %s', (_name, usage, cost) => {
  expect(statedCostOf({ model: 'm', choices: [], usage })).toBe(cost)
})

test('Dify states it in text, with its currency', () => {
  const stated = (currency: string) =>
    statedCostOf({ metadata: { usage: { ...tokens, total_price: '0.0012890', currency } } })
  expect(stated('USD')).toBe(0.001289)
  expect(stated('RMB')).toBeNull()
})
