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
const delta = { type: 'response.output_text.delta', delta: 'Hi' }
const sse = (...chunks: object[]) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')

test.each<[string, JsonObject]>([
  ['responses', created],
  ['an item of responses', { type: 'response.output_item.added', item: { type: 'message', content: [] } }],
  ['messages', { type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [] } }],
  ['a block', { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }],
  ['a ping', { type: 'ping' }],
  ['chat', chat({ role: 'assistant', content: '' })],
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
