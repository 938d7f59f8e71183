import { expect, test } from '@jest/globals'
import { serviceTierOf } from './service-tier.ts'
import { assembleStream } from './streams/assemble-stream.ts'

const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi.' } }]

test.each<[string, unknown, string | null]>([
  [
    'a chat',
    { object: 'chat.completion', choices, service_tier: 'flex', usage: { total_tokens: 1 } },
    'flex',
  ],
  ['a response', { object: 'response', output: [], service_tier: 'Priority' }, 'priority'],
  ['a message', { type: 'message', usage: { input_tokens: 1, service_tier: 'batch' } }, 'batch'],
  ['fast mode', { type: 'message', usage: { service_tier: 'standard', speed: 'fast' } }, 'fast'],
  ['nothing', { type: 'message', usage: { input_tokens: 1 } }, null],
  ['no text', { service_tier: { type: 'flex' } }, null],
  ['no answer', null, null],
])('the tier of %s', (_name, answer, tier) => {
  expect(serviceTierOf(answer)).toBe(tier)
})

const sse = (...events: object[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

test.each([
  [
    'a chat',
    sse({
      object: 'chat.completion.chunk',
      service_tier: 'flex',
      choices: [{ index: 0, delta: { content: 'Hi' } }],
    }),
    'flex',
  ],
  [
    'a response',
    sse(
      { type: 'response.created', response: { service_tier: 'auto' } },
      { type: 'response.completed', response: { service_tier: 'priority', output: [] } },
    ),
    'priority',
  ],
  [
    'a message',
    sse(
      {
        type: 'message_start',
        message: {
          type: 'message',
          content: [],
          usage: { input_tokens: 1, service_tier: 'standard', speed: 'fast' },
        },
      },
      { type: 'message_delta', delta: {}, usage: { output_tokens: 1 } },
    ),
    'fast',
  ],
])('the tier of a stream of %s', (_name, text, tier) => {
  expect(serviceTierOf(assembleStream(text)?.body)).toBe(tier)
})
