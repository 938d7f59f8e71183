import { describe, expect, test } from '@jest/globals'
import { createPriceTable } from '../price-table.ts'
import { newId } from '#schemas/ids.ts'
import { recordSchema } from './record-schema.ts'
import { describeRecord, readCall } from './describe-record.ts'

const project = { projectId: newId('project'), tier: 'pro', zeroContentRetention: false } as const
const prices = createPriceTable([
  { provider: 'openai', models: ['gpt-4o'], input: 1, cached_input: 0.5, output: 2, tiers: { flex: 0.5 } },
  { provider: 'anthropic', models: ['claude'], input: 10, cache_write: 15, cache_write_1h: 20, output: 50 },
])
const usage = {
  prompt_tokens: 100,
  completion_tokens: 50,
  prompt_tokens_details: { cached_tokens: 40 },
  completion_tokens_details: { reasoning_tokens: 20 },
}
const describeGiven = (given: object) => {
  const record = recordSchema.parse({ request_body: { model: 'gpt-4o' }, ...given })
  return describeRecord(readCall(record), project, 'pro', prices)
}

describe('what is known of a call', () => {
  test('comes from the bodies where the record does not say', () => {
    expect(describeGiven({ response_body: { model: 'gpt-4o-2024-08-06', usage } })).toMatchObject({
      model: 'gpt-4o-2024-08-06',
      provider: 'openai',
      prompt_tokens: 60,
      cached_tokens: 40,
      completion_tokens: 30,
      reasoning_tokens: 20,
      cost_usd: (60 + 40 * 0.5 + 50 * 2) / 1e6,
    })
  })

  test('costs nobody knows what where an answer broke off before it was counted', () => {
    const message = { type: 'message', model: 'claude', content: [], usage: { input_tokens: 100 } }
    const cut = { ...message, truncated: true }
    const costs = (given: object) => describeGiven({ request_body: {}, ...given }).cost_usd
    expect(costs({ response_body: cut })).toBeNull()
    expect(costs({ response_body: message, aborted_by: 'client' })).toBeNull()
    expect(describeGiven({ request_body: {}, response_body: cut })).toMatchObject({
      prompt_tokens: 100,
      completion_tokens: null,
    })
    // The count up to the abort is billed; embeddings generate nothing.
    const counted = { ...cut, usage: { input_tokens: 100, output_tokens: 5 } }
    expect(costs({ response_body: counted, aborted_by: 'client' })).toBe((100 * 10 + 5 * 50) / 1e6)
    const vectors = { truncated: true, bytes: 9, sha256: '', text: '{"data":[' }
    expect(costs({ model: 'gpt-4o', prompt_tokens: 100, response_body: vectors })).toBe(100 / 1e6)
  })

  test('costs what was written to a cache at its own price, once', () => {
    const written = {
      input_tokens: 100,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_1h_input_tokens: 10 },
      output_tokens: 0,
    }
    const given = { request_body: { model: 'claude' }, response_body: { usage: written } }
    expect(describeGiven(given)).toMatchObject({
      prompt_tokens: 130,
      cost_usd: (100 * 10 + 20 * 15 + 10 * 20) / 1e6,
    })
    // The client's own count does not tell how much was written to the cache.
    expect(describeGiven({ ...given, prompt_tokens: 130 })).toMatchObject({ cost_usd: (130 * 10) / 1e6 })
    const counted = { prompt_tokens: 130, cache_write_tokens: 30, cache_write_1h_tokens: 10 }
    expect(describeGiven({ request_body: { model: 'claude' }, ...counted })).toMatchObject({
      cost_usd: (100 * 10 + 20 * 15 + 10 * 20) / 1e6,
    })
  })

  test('costs what the tier costs that served it, be it said by the record alone', () => {
    const counted = { prompt_tokens: 100, completion_tokens: 0 }
    const given = { request_body: { model: 'gpt-4o' }, ...counted }
    expect(describeGiven({ ...given, service_tier: 'Flex' })).toMatchObject({ cost_usd: 50 / 1e6 })
    expect(describeGiven({ ...given, response_body: { service_tier: 'flex' } })).toMatchObject({
      cost_usd: 50 / 1e6,
    })
    expect(describeGiven(given)).toMatchObject({ cost_usd: 100 / 1e6 })
  })

  test('costs what tools, audio and places did, be it said by the record alone', () => {
    const rates = { input: 1, output: 2, audio_input: 5, inference_geo: { us: 2 }, uses: { search: 0.5 } }
    const ownPrices = createPriceTable([{ models: ['own'], ...rates }])
    const costOf = (given: object) => {
      const counted = { request_body: { model: 'own' }, prompt_tokens: 100, completion_tokens: 0 }
      const read = readCall(recordSchema.parse({ ...counted, ...given }))
      return describeRecord(read, project, 'pro', ownPrices).cost_usd
    }
    expect(costOf({})).toBe(100 / 1e6)
    expect(costOf({ billed_parts: { audio_input: 40, search: 2 }, inference_geo: 'US' })).toBe(
      (2 * (60 + 40 * 5)) / 1e6 + 1,
    )
    expect(costOf({ billed_parts: { time_travel: 1 } })).toBeNull()
    const searched = { usage: { server_tool_use: { search_requests: 1 }, inference_geo: 'us' } }
    expect(costOf({ response_body: searched })).toBe(200 / 1e6 + 0.5)
    expect(costOf({ response_body: searched, billed_parts: {} })).toBe(200 / 1e6)
  })

  test('costs what the answer says, by whatever price', () => {
    const given = { response_body: { model: 'gpt-4o', usage: { ...usage, cost: 0.25 } } }
    expect(describeGiven(given)).toMatchObject({ prompt_tokens: 60, cost_usd: 0.25 })
    expect(describeGiven({ ...given, cost_usd: 9 })).toMatchObject({ cost_usd: 9 })
  })

  test('costs what the advice of another model did too, and is unknown where that is', () => {
    const advised = (advisor: string) => ({
      request_body: { model: 'claude' },
      response_body: {
        type: 'message',
        content: [],
        model: 'claude',
        usage: {
          input_tokens: 412,
          cache_read_input_tokens: 0,
          output_tokens: 531,
          iterations: [
            { type: 'message', input_tokens: 412, cache_read_input_tokens: 0, output_tokens: 89 },
            { type: 'advisor_message', model: advisor, input_tokens: 823, output_tokens: 1612 },
            { type: 'message', input_tokens: 1348, cache_read_input_tokens: 412, output_tokens: 442 },
          ],
        },
      },
    })
    const own = { prompt_tokens: 412 + 1348, cached_tokens: 412, completion_tokens: 531 }
    expect(describeGiven(advised('gpt-4o'))).toMatchObject({
      ...own,
      cost_usd: ((412 + 1348 + 412) * 10 + 531 * 50 + 823 + 1612 * 2) / 1e6,
    })
    expect(describeGiven(advised('of-nobody'))).toMatchObject({ ...own, cost_usd: null })
  })

  test('keeps no advice beyond what anybody asks for, and does not say what it cost', () => {
    const iterations = Array.from({ length: 101 }, () => ({
      type: 'advisor_message',
      model: 'gpt-4o',
      input_tokens: 1,
    }))
    const response_body = { usage: { input_tokens: 1, output_tokens: 1, iterations } }
    const read = readCall(recordSchema.parse({ request_body: { model: 'gpt-4o' }, response_body }))
    expect(read.described.advice).toHaveLength(1)
    expect(describeRecord(read, project, 'pro', prices)).toMatchObject({ prompt_tokens: 1, cost_usd: null })
  })

  test('comes from the record first', () => {
    const given = { model: 'own', provider: 'own', prompt_tokens: 7, completion_tokens: 8, cost_usd: 9 }
    expect(describeGiven({ ...given, response_body: { usage } })).toMatchObject(given)
  })

  test.each([
    ['of no provider', 'gpt-4o', { messages: [] }, 'openai'],
    // A traced function's arguments can look like anything.
    ["of another provider's shape", 'gpt-4o', { message: 'hello' }, 'openai'],
    ["of another provider's model", 'gpt-4o', { model: 'claude' }, 'openai'],
    ['that say what an unknown name does not', 'my-deployment', { model: 'gpt-4o' }, 'openai'],
    ['that say nothing of an unknown name', 'my-own', { messages: [] }, null],
  ])('has the provider of the model that the record names: bodies %s', (_, model, request_body, provider) => {
    expect(describeGiven({ model, request_body })).toMatchObject({ model, provider })
  })

  test("has the provider that alone speaks the answer's shape, no matter who made the model", () => {
    const given = { model: 'us.anthropic.claude-3', response_body: { output: { message: {} } } }
    expect(describeGiven(given)).toMatchObject({ provider: 'bedrock' })
  })

  test('names each tool that the answer calls once, as a column can hold it', () => {
    const call = (name: string) => ({ type: 'function', function: { name, arguments: '{}' } })
    const tool_calls = [call('search'), call('search'), call(`nul\u0000${'x'.repeat(400)}`), call('')]
    const described = describeGiven({ response_body: { choices: [{ message: { tool_calls } }] } })
    expect(described.tool_name).toBeNull()
    expect(described.tool_names).toEqual(['search', `nul\uFFFD${'x'.repeat(252)}`])
    const many = Array.from({ length: 300 }, (_, index) => call(`tool-${index}`))
    const flooded = describeGiven({ response_body: { choices: [{ message: { tool_calls: many } }] } })
    expect(flooded.tool_names).toHaveLength(100)
  })

  test('never has the same tokens in two buckets', () => {
    expect(
      describeGiven({ prompt_tokens: 100, completion_tokens: 50, response_body: { usage } }),
    ).toMatchObject({
      prompt_tokens: 100,
      cached_tokens: null,
      completion_tokens: 50,
      reasoning_tokens: null,
    })
  })

  test('is null, not 0, where nobody says; the model is then unknown', () => {
    expect(describeGiven({ request_body: {}, agent_name: '' })).toMatchObject({
      model: 'unknown',
      provider: null,
      agent_name: null,
      prompt_tokens: null,
      cost_usd: null,
      type: null,
      metadata: null,
    })
  })

  test("of a tool call has neither model nor tokens nor cost out of the tool's result", () => {
    const request_body = { type: 'mcp_tool_call', tool_name: 'ask_expert', arguments: {} }
    const given = { request_body, response_body: { object: 'chat.completion', model: 'gpt-4o', usage } }
    const without = { provider: null, prompt_tokens: null, completion_tokens: null, cost_usd: null }
    expect(describeGiven(given)).toMatchObject({ ...without, model: 'unknown' })
    const named = { model: 'gpt-4o', provider: 'openai', prompt_tokens: null, cost_usd: null }
    expect(describeGiven({ ...given, model: 'gpt-4o' })).toMatchObject(named)
  })

  test('names the tool of a tool call, in text that can be stored', () => {
    const request_body = { type: 'mcp_tool_call', tool_name: 'search', arguments: {} }
    expect(describeGiven({ request_body })).toMatchObject({ type: 'mcp_tool_call', tool_name: 'search' })
    expect(describeGiven({ request_body: { model: `a\u0000${'b'.repeat(300)}` } }).model).toBe(
      `a\uFFFD${'b'.repeat(254)}`,
    )
  })
})

describe('a tool that says that it failed', () => {
  const asked = { type: 'mcp_tool_call', tool_name: 'search', arguments: {} }
  const text = (said: string) => ({ type: 'text', text: said })
  const answer = (result: unknown, changes: object = {}) =>
    describeGiven({ request_body: asked, response_body: result, ...changes }).error

  test.each<[string, unknown, string | null]>([
    ['by its mark', { isError: true, content: [{ type: 'image' }, text('no such table')] }, 'no such table'],
    ['without a word', { isError: true, content: [] }, 'the tool says that it failed'],
    ['inside a message', { jsonrpc: '2.0', id: 1, result: { isError: true, content: [text('no')] } }, 'no'],
    [
      'by its server',
      { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'Unknown tool' } },
      'Unknown tool',
    ],
    ['in what cannot be stored', { isError: true, content: [text('a\u0000b')] }, 'a\ufffdb'],
    ['or that it did not', { isError: false, content: [text('no such table')] }, null],
    ['or nothing of it', { content: [text('fine')], error: 'none' }, null],
    ['or nothing', null, null],
  ])('%s', (_name, result, error) => {
    expect(answer(result)).toBe(error)
  })

  test('is what its client says first, in no words where none are kept, and no model', () => {
    const result = { isError: true, content: [text('no customer Jane Doe')] }
    expect(answer(result, { error: 'timed out' })).toBe('timed out')
    expect(describeGiven({ response_body: result }).error).toBeNull()
    const record = recordSchema.parse({ request_body: asked, response_body: result })
    const keepsNothing = { ...project, zeroContentRetention: true }
    expect(describeRecord(readCall(record), keepsNothing, 'pro', prices).error).toBe('error')
  })
})
