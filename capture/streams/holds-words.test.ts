import { expect, test } from '@jest/globals'
import type { JsonObject } from '../json.ts'
import { assembleStream } from './assemble-stream.ts'
import { holdsWords } from './holds-words.ts'

const chat = (delta: object) => ({
  object: 'chat.completion.chunk',
  model: 'm',
  choices: [{ index: 0, delta }],
})
const response = {
  id: 'resp_1',
  model: 'm',
  output: [],
  instructions: [{ role: 'system', content: [{ type: 'input_text', text: 'Be brief.' }] }],
  reasoning: { effort: 'low', summary: null },
  text: { format: { type: 'text' } },
  tools: [{ type: 'function', name: 'f', parameters: { properties: { text: { type: 'string' } } } }],
}
const created = { type: 'response.created', response }
const block = (content_block: object) => ({ type: 'content_block_start', index: 1, content_block })
const delta = { type: 'response.output_text.delta', delta: 'Hi' }
const sse = (...chunks: object[]) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')

test.each<[string, JsonObject]>([
  ['responses', created],
  ['an item of responses', { type: 'response.output_item.added', item: { type: 'message', content: [] } }],
  ['messages', { type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [] } }],
  ['a block', { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }],
  ['a call of nothing', block({ type: 'tool_use', id: 'toolu_1', name: '', input: {} })],
  ['what a hosted tool found', block({ type: 'web_search_tool_result', tool_use_id: 's', content: [] })],
  ['a ping', { type: 'ping' }],
  ['chat', chat({ role: 'assistant', content: '' })],
  ['chat with a call of nothing', chat({ function_call: { name: '', arguments: '' } })],
  // prettier-ignore
  ['chat of OpenRouter', chat({ content: '', reasoning_details: [{ type: 'reasoning.summary', summary: '', id: 'r' }] })],
  // prettier-ignore
  ['Cohere', { type: 'message-start', id: 'm', delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [] } } }],
  [
    'a filter',
    { choices: [], prompt_filter_results: [{ content_filter_results: { hate: { severity: 'safe' } } }] },
  ],
  [
    'usage',
    { candidates: [{ content: { parts: [], role: 'model' } }], usageMetadata: { promptTokenCount: 3 } },
  ],
  ['Dify', { event: 'workflow_started', data: { inputs: { query: 'Hi' } } }],
])('%s begins without a word', (_name, chunk) => {
  expect(holdsWords(chunk)).toBe(false)
})

test.each<[string, JsonObject]>([
  ['responses', delta],
  ['a summary of reasoning', { type: 'response.reasoning_summary_text.delta', delta: 'Hm' }],
  ['messages', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } }],
  ['thinking', { type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: 'Hm' } }],
  ['arguments', { type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json: '{' } }],
  ['chat', chat({ content: 'Hi' })],
  ['reasoning', chat({ content: null, reasoning_content: 'Hm' })],
  ['a call', chat({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '' } }] })],
  ['a call of a function', chat({ content: null, function_call: { name: 'f', arguments: '' } })],
  ['a call without arguments', block({ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} })],
  ['a call of a hosted tool', block({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} })],
  // prettier-ignore
  ["a call of a server's tool", block({ type: 'mcp_tool_use', id: 'm', name: 'f', server_name: 's', input: {} })],
  // prettier-ignore
  ['a summary by OpenRouter', chat({ content: '', reasoning_details: [{ type: 'reasoning.summary', summary: 'Hm' }] })],
  // prettier-ignore
  ['reasoning by OpenRouter', chat({ content: '', reasoning_details: [{ type: 'reasoning.text', text: 'Hm' }] })],
  ['a plan of Cohere', { type: 'tool-plan-delta', delta: { message: { tool_plan: 'I' } } }],
  ['completions', { choices: [{ index: 0, text: 'Hi' }] }],
  ['Gemini', { candidates: [{ content: { parts: [{ text: 'Hi' }] } }] }],
  ['a call of Gemini', { candidates: [{ content: { parts: [{ functionCall: { name: 'f', args: {} } }] } }] }],
  ['Cohere', { type: 'content-delta', delta: { message: { content: { text: 'Hi' } } } }],
  ['parts', chat({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }] })],
])('%s has words', (_name, chunk) => {
  expect(holdsWords(chunk)).toBe(true)
})

test.each([
  ['the first that has one', sse(created, delta, { ...delta, delta: '!' }), [JSON.stringify(delta)]],
  ['no second', sse(delta, created, delta), [JSON.stringify(delta)]],
  ['its last line', 'data: {\ndata: "choices":[{"text":"a"}]}\n\n', ['"choices":[{"text":"a"}]}']],
  ['none', sse(created), []],
])('of the events of a stream %s is told', (_name, text, expected) => {
  const told: string[] = []
  assembleStream(text, (line) => told.push(line))
  expect(told).toEqual(expected)
})
