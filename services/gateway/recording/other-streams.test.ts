import { expect, test } from '@jest/globals'
import { describeCall } from '#capture/describe-call.ts'
import { textsOfCall } from '#capture/texts-of-call.ts'
import { amazonChunk, amazonEvent, converseEvent } from '#tests/support/amazon-event.ts'
import { rethrow } from '../testing/rethrow.ts'
import { answerJson } from './answer-json.ts'

/** Recorded with GATEWAY_RECORD_OTHER=true. */
async function recorded(bytes: Buffer, contentType: string) {
  const answer = { bytes, byteLength: bytes.length, sha256: null, contentType, contentEncoding: '' }
  const read = await answerJson(answer, 100_000, rethrow)
  return { ...read, body: JSON.parse(read.json.toString()) as object }
}

const amazon = 'application/vnd.amazon.eventstream'
const lines = 'application/x-ndjson'

const converse = [
  converseEvent('messageStart', { role: 'assistant' }),
  converseEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'Hm' } } }),
  converseEvent('contentBlockDelta', {
    contentBlockIndex: 0,
    delta: { reasoningContent: { signature: 's' } },
  }),
  converseEvent('contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'The card is 4111' } }),
  converseEvent('contentBlockDelta', { contentBlockIndex: 1, delta: { text: ' 1111 1111 1111.' } }),
  converseEvent('contentBlockStop', { contentBlockIndex: 1 }),
  converseEvent('contentBlockStart', {
    contentBlockIndex: 2,
    start: { toolUse: { toolUseId: 't', name: 'shell' } },
  }),
  converseEvent('contentBlockDelta', {
    contentBlockIndex: 2,
    delta: { toolUse: { input: '{"command":"rm' } },
  }),
  converseEvent('contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: ' -rf /"}' } } }),
  converseEvent('messageStop', { stopReason: 'tool_use' }),
  converseEvent('metadata', {
    usage: { inputTokens: 9, outputTokens: 4, totalTokens: 13 },
    metrics: { latencyMs: 7 },
  }),
]

test("Bedrock's Converse: words, thoughts, calls and counts", async () => {
  const { body, streamEnded, firstWordsEnd } = await recorded(Buffer.concat(converse), amazon)
  expect(body).toEqual({
    output: {
      message: {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'Hm', signature: 's' } } },
          { text: 'The card is 4111 1111 1111 1111.' },
          { toolUse: { toolUseId: 't', name: 'shell', input: { command: 'rm -rf /' } } },
        ],
      },
    },
    stopReason: 'tool_use',
    usage: { inputTokens: 9, outputTokens: 4, totalTokens: 13 },
    metrics: { latencyMs: 7 },
  })
  expect([streamEnded, firstWordsEnd]).toEqual([true, Buffer.concat(converse.slice(0, 2)).length])
  const described = describeCall({ requestBody: {}, responseBody: body })
  expect(described).toMatchObject({ promptTokens: 9, completionTokens: 4, provider: 'bedrock' })
  expect(textsOfCall({}, body)).toMatchObject({
    answer: 'The card is 4111 1111 1111 1111.',
    toolCalls: [{ name: 'shell', arguments: '{"command":"rm -rf /"}' }],
  })
})

test('one that breaks off, also within an event, has what came, and says so', async () => {
  const cut = Buffer.concat(converse.slice(0, 9)).subarray(0, -5)
  const { body, streamEnded } = await recorded(cut, amazon)
  const toolUse = { name: 'shell', input: '{"command":"rm' }
  expect(body).toMatchObject({ truncated: true, output: { message: { content: [{}, {}, { toolUse }] } } })
  expect(streamEnded).toBe(false)
})

test('what goes wrong on the way is its error', async () => {
  const throttled = amazonEvent(
    { ':exception-type': 'throttlingException', ':message-type': 'exception' },
    { message: 'Too many.' },
  )
  const { body, streamEnded } = await recorded(Buffer.concat([...converse.slice(0, 4), throttled]), amazon)
  expect(body).toMatchObject({
    error: { message: 'Too many.' },
    output: { message: { content: [{}, { text: 'The card is 4111' }] } },
  })
  expect(streamEnded).toBe(true)
})

test('an invocation with a response stream is the message of the maker; of one that is not known the words', async () => {
  const messages = [
    { type: 'message_start', message: { type: 'message', model: 'claude', usage: { input_tokens: 3 } } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ].map(amazonChunk)
  const { value, firstWordsEnd } = await recorded(Buffer.concat(messages), amazon)
  expect(value).toMatchObject({ content: [{ text: 'Hi' }], usage: { input_tokens: 3, output_tokens: 2 } })
  expect(firstWordsEnd).toBe(Buffer.concat(messages.slice(0, 2)).length)
  const nova = ['Hel', 'lo'].map((text) =>
    amazonChunk({ contentBlockDelta: { contentBlockIndex: 0, delta: { text } } }),
  )
  expect((await recorded(Buffer.concat(nova), amazon)).body).toMatchObject({
    output: { message: { content: [{ text: 'Hello' }] } },
  })
  const llama = ['Hel', 'lo'].map((generation) => amazonChunk({ generation, stop_reason: null }))
  const { body } = await recorded(Buffer.concat(llama), amazon)
  expect(body).toMatchObject({ encoding: 'utf8', joined: ['Hello'] })
})

test('what is said to be such events and has none is kept', async () => {
  const { body } = await recorded(Buffer.from('{"message":"no"}'), amazon)
  expect(body).toEqual({ message: 'no' })
})

const line = (chunk: object) => `${JSON.stringify({ model: 'llama3.2', created_at: 't', ...chunk })}\n`
const call = { function: { name: 'shell', arguments: { command: 'rm -rf /' } } }
const counts = { done_reason: 'stop', prompt_eval_count: 9, eval_count: 4 }
const chats = [
  line({ message: { role: 'assistant', content: '', thinking: 'Hm' }, done: false }),
  line({ message: { role: 'assistant', content: 'The card is 4111' }, done: false }),
  line({ message: { role: 'assistant', content: ' 1111 1111 1111.', tool_calls: [call] }, done: false }),
  line({ message: { role: 'assistant', content: '', tool_calls: [call] }, done: false }),
  line({ message: { role: 'assistant', content: '' }, done: true, ...counts }),
]

test.each([lines, 'application/json', ''])(
  "Ollama's chat as %s: words, thoughts, calls and counts",
  async (contentType) => {
    const { body, streamEnded, firstWordsEnd } = await recorded(Buffer.from(chats.join('')), contentType)
    const message = {
      role: 'assistant',
      content: 'The card is 4111 1111 1111 1111.',
      thinking: 'Hm',
      tool_calls: [call, call],
    }
    expect(body).toEqual({ model: 'llama3.2', created_at: 't', message, done: true, ...counts })
    expect([streamEnded, firstWordsEnd]).toEqual([true, (chats[0]?.length ?? 0) - 1])
    const described = describeCall({ requestBody: {}, responseBody: body })
    expect(described).toMatchObject({
      model: 'llama3.2',
      promptTokens: 9,
      completionTokens: 4,
      toolCalls: [{ name: 'shell' }, {}],
    })
  },
)

test("Ollama's generate; one that breaks off; one that fails", async () => {
  const words = ['Hel', 'lo'].map((response) => line({ response, done: false }))
  const end = line({ response: '', done: true, ...counts })
  expect((await recorded(Buffer.from([...words, end].join('')), lines)).body).toMatchObject({
    response: 'Hello',
    done: true,
  })
  const broken = await recorded(Buffer.from([...words, end.slice(0, -9)].join('')), lines)
  expect(broken.body).toMatchObject({ response: 'Hello', done: false, truncated: true })
  const failed = await recorded(Buffer.from(`${words.join('')}{"error":"out of memory"}\n`), lines)
  expect(failed).toMatchObject({ streamEnded: true, body: { response: 'Hello', error: 'out of memory' } })
})

test('an answer that Ollama gives whole is as it came', async () => {
  const whole = line({ message: { role: 'assistant', content: 'Hi' }, done: true, ...counts })
  const read = await recorded(Buffer.from(whole), 'application/json; charset=utf-8')
  expect(read).toMatchObject({ streamEnded: undefined, json: Buffer.from(whole) })
})
