import { describe, expect, test } from '@jest/globals'
import { listCostOf, rounded } from '#tests/support/list-cost.ts'

describe('a call to OpenAI costs, by its answer', () => {
  const usage = { input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100 }
  const response = (output: object[], more: object = {}) => ({
    ...{ object: 'response', status: 'completed', model: 'gpt-4o-2024-08-06', output, usage, ...more },
  })
  const search = (action: object = { type: 'search' }) => ({
    type: 'web_search_call',
    status: 'completed',
    action,
  })
  const call = (type: string, more: object = {}) => response([{ type, status: 'completed', ...more }])
  const chat = (model: string, details: object, more: object = {}) => ({
    ...{ object: 'chat.completion', model, choices: [], ...more },
    usage: { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100, ...details },
  })
  const drawn = { output_tokens: 7_024, output_tokens_details: { image_tokens: 7_024 } }
  const image = (usageOfTool: object, more: object = {}) =>
    response([{ type: 'image_generation_call' }], { tool_usage: { image_gen: usageOfTool }, ...more })
  const tokens = 0.0035

  test.each<[string, object, number | null]>([
    ['its tokens', response([]), tokens],
    ['each search', response([search(), search()]), tokens + 0.02],
    [
      'no page that was only opened',
      response([search(), search({ type: 'open_page' }), search({ type: 'find_in_page' })]),
      tokens + 0.01,
    ],
    ['no search that failed', response([{ ...search(), status: 'failed' }]), tokens],
    [
      'searches as counted',
      response([search(), search()], { tool_usage: { web_search: { num_requests: 1 } } }),
      tokens + 0.01,
    ],
    [
      'the preview of searches',
      response([search()], { tools: [{ type: 'web_search_preview_2025_03_11' }] }),
      tokens + 0.025,
    ],
    [
      'the preview of searches at a model that reasons',
      response([search()], { model: 'gpt-5', tools: [{ type: 'web_search_preview' }] }),
      0.00225 + 0.01,
    ],
    [
      'an unknown sum where a search has tokens of its own',
      response([search()], { model: 'gpt-4o-mini' }),
      null,
    ],
    ['a search of files', call('file_search_call'), tokens + 0.0025],
    ['an unknown sum with a container', call('code_interpreter_call'), null],
    ['an unknown sum with a hosted shell', call('shell_call'), null],
    [
      'nothing for a shell of the application',
      call('shell_call', { environment: { type: 'local' } }),
      tokens,
    ],
    ['nothing for what the application does', call('computer_call'), tokens],
    ['nothing for functions', call('function_call'), tokens],
    ['nothing for tools of others', call('mcp_call'), tokens],
    ['an unknown sum with a tool that nobody knows', call('time_travel_call'), null],
    ['the image that was drawn', image(drawn), tokens + 0.21072],
    [
      'the image at the model that drew it',
      image(drawn, { tools: [{ type: 'image_generation', model: 'gpt-image-1-mini' }] }),
      tokens + 0.056192,
    ],
    [
      'the image that was read for it',
      image({ ...drawn, input_tokens: 300, input_tokens_details: { image_tokens: 200 } }),
      tokens + 0.21072 + 100 * 5e-6 + 200 * 8e-6,
    ],
    ['an unknown sum where nobody counts the image', response([{ type: 'image_generation_call' }]), null],
    [
      'an unknown sum where a model without price drew',
      image(drawn, { tools: [{ type: 'image_generation', model: 'gpt-image-9' }] }),
      null,
    ],
    ['a call that always searches', chat('gpt-4o-search-preview', {}), tokens + 0.025],
    ['an unknown sum with audio', chat('gpt-4o', { prompt_tokens_details: { audio_tokens: 10 } }), null],
    [
      'an unknown sum with spoken words',
      chat('gpt-4o', { completion_tokens_details: { audio_tokens: 10 } }),
      null,
    ],
    [
      'images that are read as text',
      chat('gpt-4o', { prompt_tokens_details: { image_tokens: 900 } }),
      tokens,
    ],
    ['flex', chat('gpt-5', {}, { service_tier: 'flex' }), 0.001125],
    ['priority', chat('gpt-5', {}, { service_tier: 'priority' }), 0.0045],
    ['the usual tier', chat('gpt-4o', {}, { service_tier: 'default' }), tokens],
    ['an unknown sum at a tier that was contracted', chat('gpt-4o', {}, { service_tier: 'scale' }), null],
    ['an unknown sum before a tier is chosen', chat('gpt-4o', {}, { service_tier: 'auto' }), null],
    [
      'more above a length',
      chat('gpt-5.5', { prompt_tokens: 272_001, completion_tokens: 0, total_tokens: 272_001 }),
      2.72001,
    ],
  ])('%s', (_name, answer, cost) => {
    expect(listCostOf(answer)).toBe(rounded(cost))
  })
})
