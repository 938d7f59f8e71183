import { beforeEach, describe, expect, test } from '@jest/globals'
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { readBodies } from '../../../capture/record/read-bodies.ts'
import { recordSchema } from '../../../capture/record/record-schema.ts'
import { isId, newId } from '../../../schemas/ids.ts'
import { recordJson, type RawRecord } from '../call-record.ts'
import { createByteBudget } from './byte-budget.ts'
import { createDeferredWork } from './defer-work.ts'
import type { Fetch } from './fetch-request.ts'
import { recordFetch } from './record-fetch.ts'

/** Cases of foreign fetch implementations; providers.test.ts has the real clients. */
const records: RawRecord[] = []
const warnings: string[] = []
const warn = (_topic: string, message: string) => warnings.push(message)
const lost = (detail: string) => warnings.push(detail)
const deferred = createDeferredWork(lost)
const chat = 'https://api.openai.com/v1/chat/completions'

beforeEach(() => {
  records.length = 0
  warnings.length = 0
})

function recorded(inner: Fetch, maxBodyBytes = 10_000): Fetch {
  const budget = createByteBudget(10 * maxBodyBytes)
  const record = (raw: RawRecord) => records.push(raw)
  return recordFetch(inner, { budget, maxBodyBytes, session: () => ({}), record, deferred, lost, warn })
}

function answer(fields: object): Response {
  const headers = new Headers({ 'content-type': 'application/json' })
  return { status: 200, statusText: '', headers, url: chat, ok: true, ...fields } as unknown as Response
}

const post = { method: 'POST', body: '{"model":"m"}' }

/** Amazon's event framing. */
function framed(payload: object): Buffer {
  const body = Buffer.from(JSON.stringify(payload))
  const frame = Buffer.alloc(12 + 5 + body.length + 4)
  frame.writeUInt32BE(frame.length, 0)
  frame.writeUInt32BE(5, 4)
  body.copy(frame, 17)
  return frame
}

function chunk(event: object): Buffer {
  return framed({ bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abc' })
}

test('a body that is a stream of Node: the answer is returned as it is, recorded without its body', async () => {
  const given = answer({ body: Readable.from(['{}']) })
  expect(await recorded(() => Promise.resolve(given))(chat, post)).toBe(given)
  await deferred.idle()
  expect(records).toMatchObject([{ status_code: 200, requestJson: '{"model":"m"}', responseJson: undefined }])
  expect(warnings).toEqual([expect.stringContaining('without their bodies')])
})

test('a status that no Response takes: the answer is returned as it is, its body unread', async () => {
  const given = answer({ status: 999, body: new Response('{"a":1}').body })
  expect(await recorded(() => Promise.resolve(given))(chat, post)).toBe(given)
  expect(await new Response(given.body).text()).toBe('{"a":1}')
  expect(warnings).toHaveLength(1)
})

test('what a gateway answers has the identifier of its record, once; what is none, old or repeated is not taken', async () => {
  const [id, old] = [newId('request'), newId('request', Date.now() - 3_600_000)]
  for (const given of [id, id, old, 'req_1', newId('event')]) {
    const response = new Response('{}', { headers: { 'x-service-request-id': given } })
    await (await recorded(() => Promise.resolve(response))(chat, post)).text()
  }
  await deferred.idle()
  expect(records[0]?.id).toBe(id)
  expect(records.slice(1).map((record) => [id, old, 'req_1'].includes(record.id))).toEqual([
    false,
    false,
    false,
    false,
  ])
  expect(records.every((record) => isId('request', record.id))).toBe(true)
  expect(warnings).toEqual([expect.stringContaining('SERVICE_PROXY_URL')])
})

test.each(['', ',"tool_name":"t"'])(
  'a model call that calls itself a tool call (%s) is text',
  async (more) => {
    const body = `{"type":"mcp_tool_call"${more},"messages":[]}`
    const call = recorded(() => Promise.resolve(new Response('{}')), 300)
    // In the second, escapes exceed the limit.
    for (const sent of [body, body.replace('[]', `["${'\\"'.repeat(70)}"]`)])
      await (await call(chat, { method: 'POST', body: sent })).text()
    await deferred.idle()
    expect(records.map(({ requestJson }) => JSON.parse(requestJson) as unknown)).toEqual([
      { raw: body, encoding: 'utf8' },
      expect.objectContaining({ truncated: true }),
    ])
  },
)

test('the page of a proxy that fails is text, and has no first token', async () => {
  const page = new Response('<html>502', { status: 502, headers: { 'content-type': 'text/html' } })
  await (await recorded(() => Promise.resolve(page))(chat, post)).text()
  await deferred.idle()
  expect(records).toMatchObject([{ status_code: 502, responseJson: '{"raw":"<html>502","encoding":"utf8"}' }])
  expect(records[0]).not.toHaveProperty('time_to_first_token_ms')
})

test('a model whose name cannot be decoded is recorded by the name as it stands', async () => {
  const given = answer({ body: null })
  const url = 'https://generativelanguage.googleapis.com/v1beta/models/a%:generateContent'
  expect(await recorded(() => Promise.resolve(given))(url, post)).toBe(given)
  await deferred.idle()
  expect(records).toMatchObject([{ model: 'a%' }])
})

test('an error that cannot be made text is thrown as it was and recorded', async () => {
  const thrown = Object.create(null) as Error
  const call = recorded(() => Promise.reject(thrown))(chat, post)
  await expect(call).rejects.toBe(thrown)
  await deferred.idle()
  expect(records).toMatchObject([{ error: 'an error without a message', aborted_by: 'upstream' }])
})

describe('Anthropic by way of others', () => {
  const start = { type: 'message_start', message: { type: 'message', role: 'assistant', content: [] } }
  const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hello' } }
  const stop = { type: 'message_stop' }
  const answered = async (url: string, type: string, body: Buffer | string) => {
    const given = new Response(body, { headers: { 'content-type': type } })
    await (await recorded(() => Promise.resolve(given))(url, post)).arrayBuffer()
    await deferred.idle()
    return records.map(({ responseJson = '{}', ...fields }) => ({
      ...fields,
      said: JSON.parse(responseJson) as unknown,
    }))
  }
  const vertex = 'https://x-aiplatform.googleapis.com/v1/projects/p/locations/x/publishers/anthropic/models'
  const bedrock = 'https://bedrock-runtime.x.amazonaws.com/model/us.anthropic.claude-x-v1%3A0'
  const amazonEvents = 'application/vnd.amazon.eventstream'

  test('Vertex: the model is the one in the path, unless the answer says it', async () => {
    const message = { ...start.message, model: 'claude-x-20260101' }
    await answered(`${vertex}/claude-x@20260101:rawPredict`, 'application/json', JSON.stringify(message))
    const events = `data: ${JSON.stringify(start)}\n\ndata: ${JSON.stringify(block)}\n\n`
    await answered(`${vertex}/claude-x@20260101:streamRawPredict`, 'text/event-stream', events)
    const all = await answered(`${vertex}/count-tokens:rawPredict`, 'application/json', '{"input_tokens":3}')
    const [first, second, ...others] = all
    expect([first?.model, second?.model, others]).toEqual([undefined, 'claude-x@20260101', []])
    expect(second).toMatchObject({ provider: 'google', said: { content: [{ text: 'Hello' }] } })
  })

  test('Bedrock: a stream of its events is the message that it amounts to, or its error', async () => {
    const url = `${bedrock}/invoke-with-response-stream`
    await answered(url, amazonEvents, Buffer.concat([start, block, stop].map(chunk)))
    const failed = [chunk(start), framed({ message: 'Too many requests' }), Buffer.alloc(13, 1)]
    const [whole, broken] = await answered(url, amazonEvents, Buffer.concat(failed))
    const content = [{ type: 'text', text: 'Hello' }]
    const model = 'us.anthropic.claude-x-v1:0'
    expect(whole).toMatchObject({ model, provider: 'bedrock', said: { role: 'assistant', content } })
    expect(whole).not.toHaveProperty('error')
    expect(broken).toMatchObject({ model, error: 'Too many requests' })
  })
})

describe('bodies that ingest would refuse, and their record with them, stand as text', () => {
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  const message = (deepValue: string) =>
    `{"type":"message","error":{"message":"said"},"container":${deepValue}}`
  const asStream = (json: string) => `data: {"type":"message_start","message":${json}}\n\n`

  test.each([
    ['an answer that is nested deep', 'application/json', message(deep(254))],
    ['the same in a stream', 'text/event-stream', asStream(message(deep(254)))],
    ['in a stream that no stack holds', 'text/event-stream', asStream(message(deep(35_000)))],
    ['more parts than are read', 'application/json', `{"a":[${'[],'.repeat(250_000)}0]}`],
  ])('%s', async (_name, type, text) => {
    const given = new Response(text, { headers: { 'content-type': type } })
    const body = `{"tools":${deep(201)}}`
    const call = recorded(() => Promise.resolve(given), 1_000_000)(chat, { method: 'POST', body })
    expect(await (await call).text()).toBe(text)
    await deferred.idle()
    expect(warnings).toEqual([])
    const json = recordJson(records[0] as RawRecord)
    const record = recordSchema.parse(JSON.parse(json))
    expect(readBodies(record, Buffer.from(json), Date.now()).faults).toEqual([])
    expect(record).toMatchObject({
      request_body: { raw: body },
      response_body: { raw: expect.any(String) },
      error: text.length < 10_000 ? 'said' : null,
    })
  })
})

test.each([
  ['text/event-stream', (event: object) => Buffer.from(`data: ${JSON.stringify(event)}\n\n`)],
  ['application/vnd.amazon.eventstream', chunk],
])('the first token comes with the first event that has one (%s)', async (type, encoded) => {
  const events = [
    { type: 'message_start', message: { type: 'message', role: 'assistant', content: [] } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
    { type: 'message_stop' },
  ]
  async function* sent() {
    for (const event of events) {
      yield encoded(event)
      await setTimeout(100)
    }
  }
  const body = Readable.toWeb(Readable.from(sent())) as ReadableStream
  const given = new Response(body, { headers: { 'content-type': type } })
  const url = 'https://bedrock-runtime.x.amazonaws.com/model/us.anthropic.claude/invoke-with-response-stream'
  await (await recorded(() => Promise.resolve(given))(url, post)).arrayBuffer()
  await deferred.idle()
  expect(records[0]?.time_to_first_token_ms).toBeGreaterThan(95)
  expect(records[0]?.time_to_first_token_ms).toBeLessThan((records[0]?.latency_ms ?? 0) - 95)
})

describe('bodies beyond their limit', () => {
  const event = (content: string) =>
    `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content } }] })}\n\n`
  const stream = (text: string) => new Response(text, { headers: { 'content-type': 'text/event-stream' } })
  const bodies = async (request: string, response: Response) => {
    await (await recorded(() => Promise.resolve(response))(chat, { method: 'POST', body: request })).text()
    await deferred.idle()
    const [record] = records
    expect(Buffer.byteLength(record?.responseJson ?? '')).toBeLessThanOrEqual(10_000)
    return [record?.requestJson, record?.responseJson].map((json) => JSON.parse(json ?? 'null') as unknown)
  }

  test('a stream that is longer is the message that it amounts to', async () => {
    const [, answered] = await bodies('{}', stream(event('x').repeat(300)))
    expect(answered).toMatchObject({ choices: [{ message: { content: 'x'.repeat(300) } }] })
  })

  test('a stream of eight times as much is what its start amounts to', async () => {
    const [, answered] = await bodies('{}', stream(event('x').repeat(2_000)))
    expect(answered).toMatchObject({ truncated: true, text: expect.stringMatching(/"content":"x{500,}"/) })
  })

  test.each([
    ['of embeddings', (usage: string) => new Response(`{"data":["${'x'.repeat(20_000)}"],${usage}}`)],
    [
      'that streams',
      (usage: string) =>
        stream(`${event('x').repeat(2_000)}data: {"choices":[],${usage}}\n\ndata: [DONE]\n\n`),
    ],
    [
      'in one message that is longer',
      (usage: string) => stream(`${event('x'.repeat(20_000))}data: {${usage}}\n\n`),
    ],
  ])('an answer %s has the tokens that its end says', async (_name, answer) => {
    const usage =
      '"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2,"cache_write_tokens":3},"completion_tokens_details":{"audio_tokens":1},"cost":0.5}'
    const [, answered] = await bodies('{}', answer(usage))
    expect(answered).toMatchObject({ truncated: true })
    const read = { prompt_tokens: 7, cached_tokens: 2, cache_write_tokens: 3, completion_tokens: 4 }
    expect(records).toMatchObject([{ ...read, cost_usd: 0.5, billed_parts: { audio_output: 1 } }])
    expect(records[0]).not.toHaveProperty('reasoning_tokens')
  })

  test('an answer for which another model was asked has none, as they would be priced alone', async () => {
    const usage =
      '"usage":{"input_tokens":9,"output_tokens":4,"iterations":[{"type":"advisor_message","model":"m","input_tokens":8}]}'
    const [, answered] = await bodies('{}', new Response(`{"content":["${'x'.repeat(20_000)}"],${usage}}`))
    expect(answered).toMatchObject({ truncated: true })
    for (const name of ['prompt_tokens', 'completion_tokens']) expect(records[0]).not.toHaveProperty(name)
  })

  test('a request is its start', async () => {
    const text = JSON.stringify({ prompt: '"'.repeat(20_000) })
    const [asked] = await bodies(text, stream(''))
    expect(asked).toMatchObject({ truncated: true, bytes: text.length })
    expect((asked as { text: string }).text.length).toBeGreaterThan(4_000)
  })
})
