import { describe, expect, test } from '@jest/globals'
import { listCostOf, rounded } from '#tests/support/list-cost.ts'

describe('a call to Anthropic costs, by its answer', () => {
  const claude = (usage: object, more: object = {}) => ({
    ...{ type: 'message', role: 'assistant', model: 'claude-sonnet-4-6', content: [] },
    usage: { input_tokens: 1_000, output_tokens: 100, cache_read_input_tokens: 0, ...usage },
    ...more,
  })
  const uses = (counts: object) => ({ server_tool_use: counts })
  const ran = [{ type: 'server_tool_use', name: 'bash_code_execution' }]

  test.each<[string, object, number | null]>([
    ['its tokens', claude({}), 0.0045],
    ['each search beside them', claude(uses({ web_search_requests: 3 })), 0.0345],
    [
      'nothing for pages and lists of tools',
      claude(uses({ web_fetch_requests: 2, tool_search_requests: 1 })),
      0.0045,
    ],
    ['an unknown sum where code ran', claude(uses({ code_execution_requests: 1 })), null],
    ['an unknown sum where a block alone says that code ran', claude({}, { content: ran }), null],
    ['an unknown sum with a tool that nobody knows', claude(uses({ time_travel_requests: 1 })), null],
    ['a tenth more in the United States', claude({ inference_geo: 'us' }), 0.00495],
    ['the same anywhere', claude({ inference_geo: 'global' }), 0.0045],
    ['the same where a model has no places', claude({ inference_geo: 'not_available' }), 0.0045],
    ['an unknown sum in a place without a price', claude({ inference_geo: 'eu' }), null],
    [
      'an unknown sum in a place named as a member of objects',
      claude({ inference_geo: 'constructor' }),
      null,
    ],
    ['half as a batch', claude({ service_tier: 'batch' }), 0.00225],
    ['the same at the standard tier', claude({ service_tier: 'standard' }), 0.0045],
    ['an unknown sum at a tier that was contracted', claude({ service_tier: 'priority' }), null],
    ['an unknown sum in fast mode of a model without its price', claude({ speed: 'fast' }), null],
    ['an unknown sum of an unknown model', claude({}, { model: 'claude-sonnet-99' }), null],
    [
      'what was written for five minutes and for an hour',
      claude({
        cache_creation_input_tokens: 300,
        cache_creation: { ephemeral_1h_input_tokens: 100 },
        server_tool_use: { web_search_requests: 1 },
        inference_geo: 'us',
      }),
      1.1 * (0.0045 + (200 * 3.75 + 100 * 6) / 1e6) + 0.01,
    ],
  ])('%s', (_name, answer, cost) => {
    expect(listCostOf(answer)).toBe(rounded(cost))
  })

  test('nothing for the code that filters a search', () => {
    const answer = claude(uses({ web_search_requests: 1 }), { content: ran })
    const tools = (type: string) => ({ request: { tools: [{ type, name: 'web_search' }] } })
    expect(listCostOf(answer, tools('web_search_20260209'))).toBe(0.0145)
    expect(listCostOf(answer, tools('web_search_20250305'))).toBeNull()
  })

  test('an unknown sum for a search at a host without its fee', () => {
    expect(listCostOf(claude(uses({ web_search_requests: 1 })), { provider: 'azure' })).toBeNull()
    expect(listCostOf(claude({}), { provider: 'azure' })).toBe(0.0045)
  })

  test('what its host charges for what is kept for an hour', () => {
    const written = { cache_creation_input_tokens: 1e6, cache_creation: { ephemeral_1h_input_tokens: 1e6 } }
    const answer = (model: string) => claude({ input_tokens: 0, output_tokens: 0, ...written }, { model })
    expect(listCostOf(answer('us.anthropic.claude-opus-4-6-v1:0'))).toBe(11)
    expect(listCostOf(answer('anthropic.claude-3-7-sonnet-20250219-v1:0'))).toBeNull()
  })
})

test.each<[string, object]>([
  ["Mistral's connectors", { usage: { connectors: { web_search_premium: 1 } } }],
  ["xAI's sources", { usage: { num_sources_used: 3 } }],
  ["xAI's tools", { usage: { server_side_tool_usage_details: { x_search_calls: 1 } } }],
  ["Groq's tools", { choices: [{ message: { executed_tools: [{ type: 'browser_search' }] } }] }],
  ["Cohere's searches", { usage: { billed_units: { search_units: 1 } } }],
  ["Bedrock's tiers", { serviceTier: { type: 'reserved' } }],
])('is unknown with what no price names: %s', (_name, more) => {
  const usage = { prompt_tokens: 1_000, completion_tokens: 100 }
  const answer = { object: 'chat.completion', model: 'gpt-4o', choices: [], usage }
  expect(listCostOf(answer)).toBe(0.0035)
  expect(
    listCostOf({
      ...answer,
      ...more,
      usage: { ...usage, ...('usage' in more ? (more.usage as object) : {}) },
    }),
  ).toBeNull()
})
