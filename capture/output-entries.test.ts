import { expect, test } from '@jest/globals'
import { describeCall } from './describe-call.ts'
import { assembleStream } from './streams/assemble-stream.ts'
import { textsOfCall } from './texts-of-call.ts'

/** `outputs` of Mistral's conversations, and of Google's older interactions without steps. */
const streamOf = (events: readonly object[]) =>
  assembleStream(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))

const inputs = [
  { role: 'user', content: 'Weather in Ulm?' },
  { type: 'message.output', content: 'I look it up.' },
  { type: 'tool.execution', name: 'web_search', arguments: '{}', info: { found: 'Ulm lies at the Danube.' } },
  { type: 'function.call', tool_call_id: 't', name: 'weather', arguments: '{"city":"Ulm"}' },
  { type: 'function.result', tool_call_id: 't', result: 'Rain' },
]
const entry = { id: 'm', model: 'mistral-medium-2508', role: 'assistant' }
const execution = { id: 'x', name: 'code_interpreter' }
const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }
const conversation = {
  object: 'conversation.response',
  conversation_id: 'conv_1',
  outputs: [
    { type: 'tool.execution', ...execution, arguments: '{"code":"1+1"}', info: { code_output: '2' } },
    {
      type: 'message.output',
      ...entry,
      content: [
        { type: 'text', text: 'It rains.' },
        { type: 'tool_reference', url: 'u' },
      ],
    },
    { type: 'function.call', id: 'f', tool_call_id: 't2', name: 'umbrella', arguments: '{"n":1}' },
  ],
  usage,
}
const said = (content: object | string) => ({
  type: 'message.output.delta',
  ...entry,
  output_index: 1,
  content_index: 0,
  content,
})
const called = (text: string) => ({
  type: 'function.call.delta',
  id: 'f',
  tool_call_id: 't2',
  name: 'umbrella',
  output_index: 2,
  arguments: text,
})
const conversationEvents = [
  { type: 'conversation.response.started', conversation_id: 'conv_1' },
  { type: 'tool.execution.started', ...execution, output_index: 0, arguments: '' },
  { type: 'tool.execution.delta', ...execution, output_index: 0, arguments: '{"code":"1+1"}' },
  { type: 'tool.execution.done', ...execution, output_index: 0, info: { code_output: '2' } },
  said('It '),
  said('rains.'),
  said({ type: 'tool_reference', url: 'u' }),
  called('{"n"'),
  called(':1}'),
]

test("a conversation of Mistral's is read by who speaks, with its tools, its model and its tokens", () => {
  const request = { agent_id: 'a', instructions: 'Be short.', inputs }
  expect(textsOfCall(request, conversation)).toMatchObject({
    system: 'Be short.',
    prompt: 'Weather in Ulm?',
    answer: 'It rains.',
    context: ['Ulm lies at the Danube.', 'Rain', '2'],
    toolCalls: [
      { name: 'code_interpreter', arguments: '{"code":"1+1"}' },
      { name: 'umbrella', arguments: '{"n":1}' },
    ],
  })
  expect(describeCall({ requestBody: request, responseBody: conversation })).toMatchObject({
    shape: 'conversation',
    provider: 'mistral',
    model: 'mistral-medium-2508',
    promptTokens: 9,
    completionTokens: 4,
  })
})

test('its stream amounts to the same, also where it is cut off or fails', () => {
  const done = { type: 'conversation.response.done', usage }
  expect(streamOf([...conversationEvents, done])).toEqual({ body: conversation, ended: true })
  const cut = { ...conversation, usage: undefined }
  expect(streamOf(conversationEvents)).toEqual({ body: cut, ended: false })
  const failed = { type: 'conversation.response.error', message: 'overloaded', code: 500 }
  expect(streamOf([...conversationEvents, failed])).toEqual({
    body: { ...cut, error: { message: 'overloaded', code: 500 } },
    ended: true,
  })
})

const interaction = { id: 'v1_1', object: 'interaction', model: 'gemini-x' }
const outputs = [
  { type: 'thought', summary: [{ type: 'text', text: 'I look it up.' }], signature: 'abc' },
  { type: 'text', text: 'It rains.' },
  { type: 'function_call', id: 'f', name: 'weather', arguments: { city: 'Ulm' } },
  { type: 'google_search_result', call_id: 's', result: [{ title: 'Ulm lies at the Danube.' }] },
]
const delta = (index: number, given: object) => ({ event_type: 'content.delta', index, delta: given })
const counted = { total_input_tokens: 3, total_output_tokens: 2 }

test("an interaction of Google's from before it had steps, and its stream", () => {
  const whole = { ...interaction, status: 'completed', outputs, usage: counted }
  expect(textsOfCall({ model: 'gemini-x', input: 'Weather?' }, whole)).toMatchObject({
    prompt: 'Weather?',
    answer: 'It rains.',
    context: ['Ulm lies at the Danube.'],
    toolCalls: [{ name: 'weather', arguments: '{"city":"Ulm"}' }],
  })
  expect(describeCall({ requestBody: {}, responseBody: whole })).toMatchObject({
    shape: 'interactions',
    provider: 'google',
  })
  const streamed = streamOf([
    { event_type: 'interaction.start', interaction: { ...interaction, status: 'in_progress' } },
    { event_type: 'content.start', index: 0, content: { type: 'thought' } },
    delta(0, { type: 'thought_summary', content: { type: 'text', text: 'I look it up.' } }),
    delta(0, { type: 'thought_signature', signature: 'abc' }),
    { event_type: 'content.start', index: 1, content: { type: 'text' } },
    delta(1, { type: 'text', text: 'It ' }),
    delta(1, { type: 'text', text: 'rains.' }),
    delta(2, { type: 'function_call', id: 'f', name: 'weather', arguments: { city: 'Ulm' } }),
    delta(3, { type: 'google_search_result', call_id: 's', result: [{ title: 'Ulm lies at the Danube.' }] }),
    {
      event_type: 'interaction.complete',
      interaction: { ...interaction, status: 'completed', usage: counted },
    },
  ])
  expect(streamed).toEqual({ body: whole, ended: true })
})

test('outputs of kinds that nobody knows are read whole, those without words are none', () => {
  const answerOf = (...outputs: object[]) => textsOfCall({ inputs: 'P' }, { outputs }).answer
  expect(answerOf({ type: 'output_text', text: 'It rains.' })).toContain('It rains.')
  expect(answerOf({ type: 'thought' }, { type: 'message', content: 'It rains.' })).toContain('It rains.')
  expect(answerOf({ type: 'function.call', id: 'f', name: 'umbrella', arguments: '{}' })).toBe('')
  expect(answerOf({ type: 'message.output', id: 'm', content: '' })).toBe('')
})
