import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { said } from './testing/answers.ts'
import { joined, startProviderFixture, user, type ProviderFixture } from './testing/provider-fixture.ts'

let fixture: ProviderFixture

beforeAll(async () => {
  fixture = await startProviderFixture()
})
beforeEach(() => {
  fixture.clear()
})
afterAll(() => fixture.stop())

test('an error of the provider is thrown as it was and recorded, each attempt by itself', async () => {
  fixture.provider.misbehave({ status: 500 }, { status: 429 })
  const answer = await fixture.sluice
    .wrap(fixture.openAi())
    .chat.completions.create({ model: 'm', messages: user })
  expect(answer.choices[0]?.message.content).toBe(said)
  const records = await fixture.recorded()
  expect(records.map((record) => record['status_code'])).toEqual([500, 429, 200])
  expect(new Set(records.map(({ id }) => id)).size).toBe(3)
  expect(records.map((record) => record['aborted_by'])).toEqual([undefined, undefined, undefined])
})

test('an error that is not tried again keeps its class', async () => {
  fixture.provider.misbehave({ status: 401 })
  const call = fixture.sluice
    .wrap(fixture.anthropic())
    .messages.create({ model: 'm', max_tokens: 9, messages: user })
  await expect(call).rejects.toBeInstanceOf(Anthropic.AuthenticationError)
  expect(await fixture.recorded()).toMatchObject([
    { status_code: 401, error: 'not now', response_body: { error: { message: 'not now' } } },
  ])
})

test('a stream that breaks is an error to the program; what came is recorded', async () => {
  fixture.provider.misbehave('break')
  const stream = await fixture.sluice
    .wrap(fixture.openAi())
    .chat.completions.create({ model: 'm', messages: user, stream: true })
  await expect(joined(stream, () => '')).rejects.toThrow()
  expect(await fixture.recorded()).toMatchObject([
    { aborted_by: 'upstream', response_body: { choices: [{ message: { content: said } }] } },
  ])
})

test('an error of the provider inside a stream is its error, not an abort of the program that closes at it', async () => {
  fixture.provider.misbehave('fail', 'fail')
  const chunks = await fixture.sluice
    .wrap(fixture.openAi())
    .chat.completions.create({ model: 'm', messages: user, stream: true })
  await expect(joined(chunks, () => '')).rejects.toBeInstanceOf(OpenAI.APIError)
  const message = fixture.sluice
    .wrap(fixture.anthropic())
    .messages.stream({ model: 'm', max_tokens: 9, messages: user })
  await expect(message.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIError)
  const records = await fixture.recorded()
  expect(records).toMatchObject([
    { status_code: 200, error: 'Overloaded' },
    { status_code: 200, error: 'Overloaded' },
  ])
  for (const record of records) expect(record).not.toHaveProperty('aborted_by')
})

test('a stream that the program leaves', async () => {
  fixture.provider.misbehave('hang')
  const stream = await fixture.sluice
    .wrap(fixture.openAi())
    .chat.completions.create({ model: 'm', messages: user, stream: true })
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content === 'Hello') break
  expect(await fixture.recorded()).toMatchObject([
    { aborted_by: 'client', response_body: { choices: [{ finish_reason: null }] } },
  ])
})

test('a call that the program aborts', async () => {
  fixture.provider.misbehave('hang')
  const abort = new AbortController()
  const stream = fixture.sluice
    .wrap(fixture.anthropic())
    .messages.stream({ model: 'm', max_tokens: 9, messages: user }, { signal: abort.signal })
  stream.on('text', () => {
    abort.abort()
  })
  await expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIUserAbortError)
  expect(await fixture.recorded()).toMatchObject([{ aborted_by: 'client' }])
})

test('nobody listens', async () => {
  const client = fixture.sluice.wrap(
    new OpenAI({ apiKey: 'k', baseURL: 'http://127.0.0.1:9/v1', maxRetries: 0 }),
  )
  await expect(client.chat.completions.create({ model: 'm', messages: user })).rejects.toBeInstanceOf(
    OpenAI.APIConnectionError,
  )
  const [record] = await fixture.recorded()
  expect(record).toMatchObject({ aborted_by: 'upstream', error: expect.stringMatching(/^\w+: .+ \(.+\)$/) })
  expect(record).not.toHaveProperty('status_code')
})

test('what is no call of a model is not recorded; keys never are', async () => {
  const client = fixture.sluice.wrap(
    new OpenAI({ apiKey: 'sk-very-secret', baseURL: `${fixture.provider.url}/v1` }),
  )
  await client.models.list()
  await client.chat.completions.create({ model: 'm', messages: user })
  expect(await fixture.recorded()).toHaveLength(1)
  expect(fixture.receiver.texts.join()).not.toContain('sk-very-secret')
})

test('wrapped twice is recorded once; a client that is not known works as before', async () => {
  const client = fixture.sluice.wrap(fixture.sluice.wrap(fixture.openAi()))
  await client.chat.completions.create({ model: 'm', messages: user })
  expect(await fixture.recorded()).toHaveLength(1)
  const unknown = { ask: () => 'answer' }
  expect(fixture.sluice.wrap(unknown)).toBe(unknown)
  expect(unknown.ask()).toBe('answer')
})
