import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import OpenAI from 'openai'
import { createDemoUpstream } from './demo-upstream.ts'

let server: Server
let client: OpenAI

beforeAll(async () => {
  server = createDemoUpstream().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  client = new OpenAI({ apiKey: 'any', baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 })
})

afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const question = {
  model: 'gpt-4o-mini',
  messages: [{ role: 'user' as const, content: 'Where is the wine?' }],
}

test('the official client gets an answer that repeats the question, the same each time, with usage', async () => {
  const [one, two] = [
    await client.chat.completions.create(question),
    await client.chat.completions.create(question),
  ]
  expect(one.choices[0]?.message.content).toContain('Where is the wine?')
  expect(two).toEqual({ ...one, created: two.created })
  expect(one.usage?.total_tokens).toBe((one.usage?.prompt_tokens ?? 0) + (one.usage?.completion_tokens ?? 0))
})

test('a stream says the same in pieces, and its usage only when asked', async () => {
  const whole = await client.chat.completions.create(question)
  const stream = await client.chat.completions.create({
    ...question,
    stream: true,
    stream_options: { include_usage: true },
  })
  const chunks = await Array.fromAsync(stream)
  const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
  expect(text).toBe(whole.choices[0]?.message.content)
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage })
  const without = await Array.fromAsync(await client.chat.completions.create({ ...question, stream: true }))
  expect(without.every(({ usage }) => usage === undefined)).toBe(true)
})

test('embeddings are the same for the same text', async () => {
  const { data } = await client.embeddings.create({
    model: 'demo',
    input: ['a', 'a', 'b'],
    encoding_format: 'float',
  })
  expect(data[0]?.embedding).toEqual(data[1]?.embedding)
  expect(data[0]?.embedding).not.toEqual(data[2]?.embedding)
})

test.each([
  ['no messages', '/v1/chat/completions', '{"model": "x"}', 400],
  ['no JSON', '/v1/chat/completions', 'x', 400],
  ['another path', '/v1/audio', '{}', 404],
])('%s is an error in the shape that clients know', async (_name, path, body, status) => {
  const { port } = server.address() as AddressInfo
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body })
  expect(answer.status).toBe(status)
  expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error' } })
})
