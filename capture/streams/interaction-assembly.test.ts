import { expect, test } from '@jest/globals'
import { describeCall } from '../describe-call.ts'
import { textsOfCall } from '../texts-of-call.ts'
import { assembleStream } from './assemble-stream.ts'

const sse = (...events: object[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') + 'data: [DONE]\n\n'
const start = (index: number, step: object) => ({ event_type: 'step.start', index, step })
const delta = (index: number, given: object) => ({ event_type: 'step.delta', index, delta: given })
const interaction = { id: 'v1_1', object: 'interaction', model: 'gemini-x', status: 'in_progress' }
const usage = {
  total_input_tokens: 30,
  total_cached_tokens: 10,
  total_tool_use_tokens: 5,
  total_output_tokens: 7,
  total_thought_tokens: 20,
  total_tokens: 62,
}
const events = [
  { event_type: 'interaction.created', interaction },
  start(0, { type: 'thought' }),
  delta(0, { type: 'thought_summary', content: { type: 'text', text: 'I look' } }),
  delta(0, { type: 'thought_summary', content: { type: 'text', text: ' it up.' } }),
  delta(0, { type: 'thought_signature', signature: 'abc' }),
  start(1, { type: 'google_search_call', id: 's' }),
  delta(1, { type: 'google_search_call', arguments: { queries: ['Ulm'] } }),
  start(2, { type: 'google_search_result', call_id: 's' }),
  delta(2, { type: 'google_search_result', result: [{ search_suggestions: 'Ulm lies at the Danube.' }] }),
  start(3, { type: 'function_call', id: 'f', name: 'weather' }),
  delta(3, { type: 'arguments_delta', arguments: '{"city":' }),
  delta(3, { type: 'arguments_delta', arguments: '"Ulm"}' }),
  start(4, { type: 'model_output' }),
  delta(4, { type: 'text', text: 'It ' }),
  delta(4, { type: 'text', text: 'rains.' }),
  delta(4, { type: 'text_annotation_delta', annotations: [{ start_index: 0 }] }),
  delta(4, { type: 'image', data: 'aGk=', mime_type: 'image/png' }),
  { event_type: 'step.stop', index: 4 },
  { event_type: 'interaction.completed', interaction: { ...interaction, status: 'completed', usage } },
]
const steps = [
  { type: 'thought', summary: [{ type: 'text', text: 'I look it up.' }], signature: 'abc' },
  { type: 'google_search_call', id: 's', arguments: { queries: ['Ulm'] } },
  { type: 'google_search_result', call_id: 's', result: [{ search_suggestions: 'Ulm lies at the Danube.' }] },
  { type: 'function_call', id: 'f', name: 'weather', arguments: { city: 'Ulm' } },
  {
    type: 'model_output',
    content: [
      { type: 'text', text: 'It rains.', annotations: [{ start_index: 0 }] },
      { type: 'image', data: 'aGk=', mime_type: 'image/png' },
    ],
  },
]

test('an interaction that is streamed is the one that would be answered', () => {
  expect(assembleStream(sse(...events))).toEqual({
    ended: true,
    body: { ...interaction, status: 'completed', usage, steps },
  })
})

test('one that breaks off keeps what came, and one that fails says why', () => {
  const cut = events.slice(0, 11).map((event) => `data: ${JSON.stringify(event)}\n\n`)
  expect(assembleStream(cut.join(''))).toMatchObject({
    ended: false,
    body: { status: 'in_progress', steps: [{}, {}, {}, { name: 'weather', arguments: '{"city":' }] },
  })
  const error = { code: 'unavailable', message: 'overloaded' }
  expect(assembleStream(cut.join('') + sse({ event_type: 'error', error }))).toMatchObject({
    body: { error },
  })
})

test('arguments that are nested deeper than a record may be stay text: the rest stays what it is', () => {
  const given = `{"a":${'['.repeat(250)}${']'.repeat(250)}}`
  const called = [
    { event_type: 'interaction.created', interaction },
    start(0, { type: 'function_call', id: 'f' }),
    delta(0, { type: 'arguments_delta', arguments: given }),
  ]
  expect(assembleStream(sse(...called))).toMatchObject({ body: { steps: [{ id: 'f', arguments: given }] } })
})

test('what is said, called, found and counted in an interaction', () => {
  const asked = [
    { type: 'user_input', content: [{ type: 'text', text: 'Hello' }] },
    { type: 'model_output', content: [{ type: 'text', text: 'Hi. Where are you?' }] },
    { type: 'function_result', call_id: 'p', name: 'place', result: [{ type: 'text', text: 'Ulm' }] },
    { type: 'text', text: 'Weather?' },
  ]
  const request = { model: 'gemini-x', system_instruction: 'Be brief.', input: asked }
  const before = [{ type: 'model_output', content: [{ type: 'text', text: 'Before.' }] }, asked[0]]
  const answer = { ...interaction, status: 'completed', usage, steps: [...before, ...steps] }
  expect(describeCall({ requestBody: request, responseBody: answer })).toMatchObject({
    shape: 'interactions',
    provider: 'google',
    model: 'gemini-x',
    promptTokens: 25,
    cachedTokens: 10,
    completionTokens: 7,
    reasoningTokens: 20,
    toolCalls: [{ name: 'google_search_call' }, { name: 'weather', arguments: '{"city":"Ulm"}' }],
  })
  expect(textsOfCall(request, answer)).toMatchObject({
    system: 'Be brief.',
    prompt: 'Hello\nWeather?',
    answer: 'It rains.',
    context: ['Ulm', 'Ulm lies at the Danube.'],
  })
  expect(textsOfCall(request, answer).messages.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'tool',
    'user',
  ])
  expect(textsOfCall({ input: { type: 'text', text: 'One part' } }, {}).prompt).toBe('One part')
})

test.each([
  ['text', { type: 'text', text: '•' }],
  ['annotations', { type: 'text_annotation_delta', annotations: ['•'] }],
  ['media', { type: 'image', data: '•' }],
])('tens of thousands of deltas take time in proportion to their number: %s', (_name, given) => {
  const many = [start(0, { type: 'model_output' }), ...Array<object>(50_000).fill(delta(0, given))]
  const assembled = assembleStream(sse({ event_type: 'interaction.created', interaction }, ...many))
  expect(JSON.stringify(assembled?.body['steps']).match(/•/g)).toHaveLength(50_000)
})
