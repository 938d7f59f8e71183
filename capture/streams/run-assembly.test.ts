import { expect, test } from '@jest/globals'
import { textsOfCall } from '../texts-of-call.ts'
import { usageOf } from '../usage.ts'
import { assembleStream } from './assemble-stream.ts'

test("a stream of LangGraph's states is the last of them, as a run answers that is waited for", () => {
  const human = { type: 'human', content: 'What is the tide?' }
  const call = { type: 'ai', content: '', tool_calls: [{ name: 'tide', args: { at: 'Hull' }, id: '1' }] }
  const states = [
    { messages: [human] },
    { messages: [human, call] },
    {
      messages: [
        human,
        call,
        { type: 'tool', content: '3 m' },
        { type: 'ai', content: 'Three metres.', usage_metadata: { input_tokens: 9, output_tokens: 4 } },
      ],
    },
  ]
  const stream = [
    `event: metadata\ndata: ${JSON.stringify({ run_id: 'r', attempt: 1 })}\n\n`,
    ...states.map((state) => `event: values\ndata: ${JSON.stringify(state)}\n\n`),
    `event: messages\ndata: ${JSON.stringify([{ type: 'AIMessageChunk', content: 'x' }, {}])}\n\n`,
    'event: end\ndata: null\n\n',
  ].join('')
  const body = assembleStream(stream)?.body
  expect(body).toEqual(states[2])
  expect(textsOfCall({ input: { messages: [human] } }, body).answer).toBe('Three metres.')
  expect(usageOf(body)).toMatchObject({ promptTokens: 9, completionTokens: 4 })
  const failed = `${stream}event: error\ndata: ${JSON.stringify({ error: 'ValueError', message: 'no tide' })}\n\n`
  expect(assembleStream(failed)).toMatchObject({
    ended: true,
    body: { error: 'no tide', messages: states[2]?.messages },
  })
})
