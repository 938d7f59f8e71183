import { expect, test } from '@jest/globals'
import { assembleStream } from './assemble-stream.ts'

const sse = (...chunks: object[]) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')

test('Cohere: content, tool plan, tool calls, citations, usage', () => {
  const message = (type: string, index: number, fields: object) => ({
    type,
    index,
    delta: { message: fields },
  })
  const text = sse(
    { type: 'message-start', id: 'c', delta: { message: { role: 'assistant' } } },
    message('tool-plan-delta', 0, { tool_plan: 'I will ' }),
    message('tool-plan-delta', 0, { tool_plan: 'look' }),
    message('tool-call-start', 0, {
      tool_calls: { id: 't', type: 'function', function: { name: 'f', arguments: '' } },
    }),
    message('tool-call-delta', 0, { tool_calls: { function: { arguments: '{"a"' } } }),
    message('tool-call-delta', 0, { tool_calls: { function: { arguments: ':1}' } } }),
    message('content-start', 0, { content: { type: 'text', text: '' } }),
    message('content-delta', 0, { content: { text: 'He' } }),
    message('content-delta', 0, { content: { text: 'y' } }),
    message('citation-start', 0, { citations: { start: 0, end: 2, text: 'He' } }),
    { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: { tokens: { input_tokens: 2 } } } },
  )
  expect(assembleStream(text)).toEqual({
    ended: true,
    body: {
      id: 'c',
      finish_reason: 'COMPLETE',
      usage: { tokens: { input_tokens: 2 } },
      message: {
        role: 'assistant',
        tool_plan: 'I will look',
        content: [{ type: 'text', text: 'Hey' }],
        tool_calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
        citations: [{ start: 0, end: 2, text: 'He' }],
      },
    },
  })
})
