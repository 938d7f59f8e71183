import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import type { AIMessageChunk } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, jsonSchema, streamText, type LanguageModel, type ToolSet } from 'ai'
import { Ollama } from 'ollama'
import { describeRecord, readCall } from '../../capture/record/describe-record.ts'
import { recordSchema } from '../../capture/record/record-schema.ts'
import { textsOfCall } from '../../capture/texts-of-call.ts'
import type { PostedRecord } from '../../tests/support/record-receiver.ts'
import { said } from './testing/answers.ts'
import { joined, startProviderFixture, user, type ProviderFixture } from './testing/provider-fixture.ts'

/** The recording fetch in real clients and frameworks, against a server that speaks their protocols. */
let fixture: ProviderFixture
let recording: typeof fetch

beforeAll(async () => {
  fixture = await startProviderFixture()
  recording = fixture.sluice.createFetch()
})
beforeEach(() => fixture.clear())
afterAll(() => fixture.stop())

const url = () => fixture.provider.url
const parameters = { type: 'object' as const, properties: { x: { type: 'number' } } }
const described = { name: 'look_up', description: 'Looks x up', parameters }
const openAiTools = [{ type: 'function' as const, function: described }]
const aiTools: ToolSet = { look_up: { description: 'Looks x up', inputSchema: jsonSchema(parameters) } }

/** The words and the tools that the program got. */
interface Got {
  text: string
  tools: unknown[]
}
type Call = (streamed: boolean) => Promise<Got>

/** Vercel's AI SDK with the model of one of its providers. */
const ai =
  (modelOf: () => LanguageModel): Call =>
  async (streamed) => {
    const asked = { model: modelOf(), messages: user, tools: aiTools, maxRetries: 0 }
    const answer = streamed ? streamText(asked) : await generateText(asked)
    const calls = await answer.toolCalls
    return { text: await answer.text, tools: calls.map(({ toolName, input }): unknown => [toolName, input]) }
  }

const langChain: Call = async (streamed) => {
  const configuration = { baseURL: `${url()}/v1`, fetch: recording }
  const chat = new ChatOpenAI({ model: 'gpt-5-mini', apiKey: 'k', configuration, maxRetries: 0 })
  const model = chat.bindTools(openAiTools)
  if (!streamed) {
    const { text, tool_calls: calls = [] } = await model.invoke('Hi')
    return { text, tools: calls.map(({ name, args }) => [name, args]) }
  }
  let whole: AIMessageChunk | undefined
  for await (const chunk of await model.stream('Hi')) whole = whole?.concat(chunk) ?? chunk
  return { text: whole?.text ?? '', tools: (whole?.tool_calls ?? []).map(({ name, args }) => [name, args]) }
}

const ollama: Call = async (streamed) => {
  const client = new Ollama({ host: url(), fetch: recording })
  const asked = { model: 'llama3.2', messages: user, tools: openAiTools }
  const answers = streamed
    ? await client.chat({ ...asked, stream: true })
    : [await client.chat({ ...asked, stream: false })]
  const got: Got = { text: '', tools: [] }
  for await (const { message } of answers) {
    got.text += message.content
    for (const { function: called } of message.tool_calls ?? [])
      got.tools.push([called.name, called.arguments])
  }
  return got
}

/** Of code without any client: a `Request`, and bytes. */
const plain: Call = async (streamed) => {
  const body = JSON.stringify({ model: 'gpt-5-mini', messages: user, tools: openAiTools, stream: streamed })
  const request = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const address = `${url()}/v1/chat/completions`
  const response = streamed
    ? await recording(new Request(address, { ...request, body }))
    : await recording(address, { ...request, body: new TextEncoder().encode(body) })
  const text = await response.text()
  expect(text).toContain('there')
  return { text: said, tools: [['look_up', { x: 1 }]] }
}

const openAiTokens = { prompt_tokens: 20, cached_tokens: 10, completion_tokens: 5, reasoning_tokens: 4 }
const otherTokens = { prompt_tokens: 20, cached_tokens: 10, completion_tokens: 9, reasoning_tokens: null }
const openAi = { model: 'gpt-5-mini-2025-08-07', provider: 'openai', ...openAiTokens }
const openAiProvider = () => createOpenAI({ apiKey: 'k', baseURL: `${url()}/v1`, fetch: recording })

const calls: readonly [string, Call, object][] = [
  ["AI SDK, OpenAI's responses", ai(() => openAiProvider()('gpt-5-mini')), openAi],
  ["AI SDK, OpenAI's chat", ai(() => openAiProvider().chat('gpt-5-mini')), openAi],
  [
    'AI SDK, Anthropic',
    ai(() => createAnthropic({ apiKey: 'k', baseURL: `${url()}/v1`, fetch: recording })('claude-sonnet-5')),
    { model: 'claude-sonnet-5', provider: 'anthropic', ...otherTokens },
  ],
  [
    'AI SDK, Bedrock',
    ai(() =>
      createAmazonBedrock({ apiKey: 'k', region: 'eu-central-1', baseURL: url(), fetch: recording })(
        'eu.amazon.nova-lite-v1:0',
      ),
    ),
    { model: 'eu.amazon.nova-lite-v1:0', provider: 'bedrock', ...otherTokens },
  ],
  ['LangChain.js', langChain, openAi],
  ['Ollama', ollama, { model: 'llama3.2', provider: 'ollama', ...otherTokens, cached_tokens: null }],
  ['no client', plain, openAi],
]

/** What ingest makes of a record. */
function seen(record: PostedRecord) {
  const parsed = recordSchema.parse(record)
  const { model, provider, tool_names, ...context } = describeRecord(
    readCall(parsed),
    { projectId: 'p', zeroContentRetention: false },
    'enterprise',
    { costOf: () => null },
  )
  const { prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens } = context
  const { answer, toolCalls } = textsOfCall(parsed.request_body, parsed.response_body)
  const tokens = { prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens }
  return { model, provider, ...tokens, tool_names, answer, toolCalls: toolCalls.map(({ name }) => name) }
}

test.each(
  calls.flatMap(([name, call, tells]) => [false, true].map((on) => [name, on, call, tells] as const)),
)(
  '%s (streamed: %s): model, provider, tokens, words and tools are recorded, once',
  async (name, streamed, call, tells) => {
    expect(await call(streamed)).toEqual({ text: said, tools: [['look_up', { x: 1 }]] })
    const [record, ...others] = await fixture.recorded()
    expect(others).toEqual([])
    if (record === undefined) throw new Error(`${name} is not recorded`)
    expect(seen(record)).toMatchObject({ ...tells, answer: said, tool_names: ['look_up'] })
    expect(record).toMatchObject({ source: 'sdk', agent_name: 'tester', status_code: 200 })
    expect(record['request_body']).toEqual(fixture.provider.seen.at(-1)?.body)
    expect(typeof record['time_to_first_token_ms']).toBe(streamed ? 'number' : 'undefined')
    expect(record).not.toHaveProperty('aborted_by')
  },
)

describe('Ollama', () => {
  const client = () => new Ollama({ host: 'http://localhost:11434', fetch: answering })
  let answer: Response
  const answering: typeof fetch = (input, init) =>
    fixture.sluice.createFetch(() => Promise.resolve(answer))(input, init)
  const lines = (...chunks: object[]) =>
    new Response(chunks.map((chunk) => `${JSON.stringify(chunk)}\n`).join(''), {
      headers: { 'content-type': 'application/x-ndjson' },
    })

  test('a prompt, and an embedding', async () => {
    const counts = { done: true, prompt_eval_count: 3, eval_count: 2 }
    answer = lines(
      { model: 'qwen3', response: 'Hel', done: false },
      { model: 'qwen3', response: 'lo', ...counts },
    )
    const parts = await client().generate({ model: 'qwen3', prompt: 'Hi', stream: true })
    const text = await joined(parts, ({ response }) => response)
    answer = Response.json({ model: 'all-minilm', embeddings: [[0.5]], prompt_eval_count: 4 })
    await client().embed({ model: 'all-minilm', input: 'Hi' })
    expect(text).toBe('Hello')
    const found = (await fixture.recorded()).map(seen).sort((a, b) => b.model.localeCompare(a.model))
    expect(found).toMatchObject([
      { model: 'qwen3', provider: 'ollama', prompt_tokens: 3, completion_tokens: 2, answer: 'Hello' },
      { model: 'all-minilm', provider: 'ollama', prompt_tokens: 4, completion_tokens: null, answer: '' },
    ])
  })

  test('an error inside a stream, at which its client stops reading', async () => {
    answer = lines(
      { model: 'qwen3', message: { role: 'assistant', content: 'Hel' }, done: false },
      { error: 'out of memory' },
    )
    const parts = await client().chat({ model: 'qwen3', messages: user, stream: true })
    await expect(
      (async () => {
        for await (const _ of parts);
      })(),
    ).rejects.toThrow('out of memory')
    const [record] = await fixture.recorded()
    expect(record).toMatchObject({ error: 'out of memory', response_body: { message: { content: 'Hel' } } })
    expect(record).not.toHaveProperty('aborted_by')
  })

  test('a stream longer than a body may be is the message that it amounts to', async () => {
    const small = fixture.another({ maxBodyBytes: 1_000 })
    const word = { model: 'qwen3', message: { role: 'assistant', content: 'x' }, done: false }
    const chunks = [...Array.from({ length: 50 }, () => word), { ...word, done: true }]
    const inner: typeof fetch = () => Promise.resolve(lines(...chunks))
    const request = { method: 'POST', body: '{"model":"qwen3"}' }
    await (await small.createFetch(inner)('http://localhost:11434/api/chat', request)).text()
    expect(await fixture.recorded(small)).toMatchObject([
      { response_body: { message: { content: 'x'.repeat(51) } } },
    ])
  })
})
