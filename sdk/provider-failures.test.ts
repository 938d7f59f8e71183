import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { said } from './testing/protocol-server.ts'
import { joined, startProviderStage, user, type ProviderStage } from './testing/provider-stage.ts'

let stage: ProviderStage

beforeAll(async () => {
  stage = await startProviderStage()
})
beforeEach(() => {
  stage.clear()
})
afterAll(() => stage.stop())

test('an error of the provider is thrown as it was and recorded, each attempt by itself', async () => {
  stage.provider.misbehave({ status: 500 }, { status: 429 })
  const answer = await stage.sluice
    .wrap(stage.openAi())
    .chat.completions.create({ model: 'm', messages: user })
  expect(answer.choices[0]?.message.content).toBe(said)
  const records = await stage.recorded()
  expect(records.map((record) => record['status_code'])).toEqual([500, 429, 200])
  expect(new Set(records.map(({ id }) => id)).size).toBe(3)
  expect(records.map((record) => record['aborted_by'])).toEqual([undefined, undefined, undefined])
})

test('an error that is not tried again keeps its class', async () => {
  stage.provider.misbehave({ status: 401 })
  const call = stage.sluice
    .wrap(stage.anthropic())
    .messages.create({ model: 'm', max_tokens: 9, messages: user })
  await expect(call).rejects.toBeInstanceOf(Anthropic.AuthenticationError)
  expect(await stage.recorded()).toMatchObject([
    { status_code: 401, error: 'not now', response_body: { error: { message: 'not now' } } },
  ])
})

test('a stream that breaks is an error to the program; what came is recorded', async () => {
  stage.provider.misbehave('break')
  const stream = await stage.sluice
    .wrap(stage.openAi())
    .chat.completions.create({ model: 'm', messages: user, stream: true })
  await expect(joined(stream, () => '')).rejects.toThrow()
  expect(await stage.recorded()).toMatchObject([
    { aborted_by: 'upstream', response_body: { choices: [{ message: { content: said } }] } },
  ])
})

test('an error of the provider inside a stream is its error, not an abort of the program that closes at it', async () => {
  stage.provider.misbehave('fail', 'fail')
  const chunks = await stage.sluice
    .wrap(stage.openAi())
    .chat.completions.create({ model: 'm', messages: user, stream: true })
  await expect(joined(chunks, () => '')).rejects.toBeInstanceOf(OpenAI.APIError)
  const message = stage.sluice
    .wrap(stage.anthropic())
    .messages.stream({ model: 'm', max_tokens: 9, messages: user })
  await expect(message.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIError)
  const records = await stage.recorded()
  expect(records).toMatchObject([
    { status_code: 200, error: 'Overloaded' },
    { status_code: 200, error: 'Overloaded' },
  ])
  for (const record of records) expect(record).not.toHaveProperty('aborted_by')
})

test('a stream that the program leaves', async () => {
  stage.provider.misbehave('hang')
  const stream = await stage.sluice
    .wrap(stage.openAi())
    .chat.completions.create({ model: 'm', messages: user, stream: true })
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content === 'Hello') break
  expect(await stage.recorded()).toMatchObject([
    { aborted_by: 'client', response_body: { choices: [{ finish_reason: null }] } },
  ])
})

test('a call that the program aborts', async () => {
  stage.provider.misbehave('hang')
  const abort = new AbortController()
  const stream = stage.sluice
    .wrap(stage.anthropic())
    .messages.stream({ model: 'm', max_tokens: 9, messages: user }, { signal: abort.signal })
  stream.on('text', () => {
    abort.abort()
  })
  await expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIUserAbortError)
  expect(await stage.recorded()).toMatchObject([{ aborted_by: 'client' }])
})

test('nobody listens', async () => {
  const client = stage.sluice.wrap(
    new OpenAI({ apiKey: 'k', baseURL: 'http://127.0.0.1:9/v1', maxRetries: 0 }),
  )
  await expect(client.chat.completions.create({ model: 'm', messages: user })).rejects.toBeInstanceOf(
    OpenAI.APIConnectionError,
  )
  const [record] = await stage.recorded()
  expect(record).toMatchObject({ aborted_by: 'upstream', error: expect.stringMatching(/^\w+: .+ \(.+\)$/) })
  expect(record).not.toHaveProperty('status_code')
})

test('what is no call of a model is not recorded; keys never are', async () => {
  const client = stage.sluice.wrap(
    new OpenAI({ apiKey: 'sk-very-secret', baseURL: `${stage.provider.url}/v1` }),
  )
  await client.models.list()
  await client.chat.completions.create({ model: 'm', messages: user })
  expect(await stage.recorded()).toHaveLength(1)
  expect(stage.receiver.texts.join()).not.toContain('sk-very-secret')
})

test('wrapped twice is recorded once; a client that is not known works as before', async () => {
  const client = stage.sluice.wrap(stage.sluice.wrap(stage.openAi()))
  await client.chat.completions.create({ model: 'm', messages: user })
  expect(await stage.recorded()).toHaveLength(1)
  const unknown = { ask: () => 'answer' }
  expect(stage.sluice.wrap(unknown)).toBe(unknown)
  expect(unknown.ask()).toBe('answer')
})
