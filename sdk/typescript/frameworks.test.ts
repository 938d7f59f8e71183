import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { Ollama } from 'ollama'
import { describeRecord, readCall } from '../../capture/record/describe-record.ts'
import { recordSchema } from '../../capture/record/record-schema.ts'
import { textsOfCall } from '../../capture/texts-of-call.ts'
import type { PostedRecord } from '../../tests/support/record-receiver.ts'
import { said } from './testing/answers.ts'
import { frameworkCases } from './testing/framework-calls.ts'
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

test.each(frameworkCases)(
  '%s: model, provider, tokens, words and tools are recorded, once',
  async (_name, streamed, { ask, tells }) => {
    const address = { url: fixture.provider.url, fetch: recording }
    expect(await ask(streamed, address)).toEqual({ text: said, tools: [['look_up', { x: 1 }]] })
    const records = await fixture.recorded()
    expect(records.map(seen)).toMatchObject([{ ...tells, answer: said, tool_names: ['look_up'] }])
    expect(records).toMatchObject([{ source: 'sdk', agent_name: 'tester', status_code: 200 }])
    expect(records[0]?.['request_body']).toEqual(fixture.provider.seen.at(-1)?.body)
    expect(typeof records[0]?.['time_to_first_token_ms']).toBe(streamed ? 'number' : 'undefined')
    expect(records[0]).not.toHaveProperty('aborted_by')
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
