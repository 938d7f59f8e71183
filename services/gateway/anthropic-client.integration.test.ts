import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import Anthropic, { APIError } from '@anthropic-ai/sdk'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { listen } from '#runtime/operations-server.ts'
import { createSealer } from '#runtime/sealing.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { topics } from '#schemas/topics.ts'
import { operatorSecret, startApi, type RunningApi } from '#tests/support/start-api.ts'
import { startGateway, type RunningGateway } from '#tests/support/start-gateway.ts'
import { until } from '#tests/support/until.ts'

/** Anthropic's official client; applications present keys of their projects. */
let api: RunningApi
let provider: Server
let gateway: RunningGateway
let projects: { projectId: string; key: string; keyId: string }[]
const presented = new Set<string | undefined>()
const sealer = createSealer([])
/** Number of streams that the provider was told to stop. */
let brokenOff = 0
/** Number of bytes sent to the provider. */
let sent = 0
const mebibyte = 1024 * 1024

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-test',
  stop_reason: null,
}
const usage = { input_tokens: 20, output_tokens: 1, cache_read_input_tokens: 5 }
const events = [
  { type: 'message_start', message: { ...message, content: [], usage } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Let me ' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'look.' } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'content_block_start',
    index: 1,
    content_block: { type: 'tool_use', id: 't', name: 'weather', input: {} },
  },
  { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"city":' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '"Ulm"}' } },
  { type: 'content_block_stop', index: 1 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 12 } },
  { type: 'message_stop' },
]
const content = [
  { type: 'text', text: 'Let me look.' },
  { type: 'tool_use', id: 't', name: 'weather', input: { city: 'Ulm' } },
]

const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }

function answer(response: ServerResponse, asked: { model: string; stream?: boolean }): void {
  if (asked.model === 'none') {
    response.writeHead(529, { 'content-type': 'application/json', 'retry-after': '7' })
    response.end(JSON.stringify(overloaded))
  } else if (asked.model === 'endless') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of events.slice(0, 3))
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.once('close', () => brokenOff++)
  } else if (asked.model === 'failing') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of [...events.slice(0, 3), overloaded])
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  } else if (asked.stream === true) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.end()
  } else {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({
        ...message,
        content,
        stop_reason: 'tool_use',
        usage: { ...usage, output_tokens: 12 },
      }),
    )
  }
}

beforeAll(async () => {
  api = await startApi()
  projects = [await api.createProject(), await api.createProject()]
  provider = createServer((request, response) => {
    presented.add(`${request.headers.authorization} ${String(request.headers['x-api-key'])}`)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => {
      sent += chunk.length
      chunks.push(chunk)
    })
    request.on('end', () =>
      answer(response, JSON.parse(Buffer.concat(chunks).toString()) as { model: string }),
    )
  })
  await listen(provider, 0, '127.0.0.1')
  gateway = await startGateway({
    UPSTREAM_URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
    UPSTREAM_API_KEY: 'the-providers-key',
    UPSTREAM_API_KEY_HEADER: 'x-api-key',
    API_BACKEND_URL: api.baseUrl,
    GATEWAY_AUTH: 'project_keys',
    INTERNAL_API_SECRET: operatorSecret,
    CAPTURE_TOTAL_MAX_BYTES: String(2 * mebibyte),
  })
})

afterAll(async () => {
  await gateway.stop()
  provider.closeAllConnections()
  await new Promise((resolve) => provider.close(resolve))
  await api.stop()
})

const clientOf = (key: string | undefined) =>
  new Anthropic({ apiKey: key ?? '', baseURL: gateway.url, maxRetries: 0 })
const asked = {
  model: 'claude-test',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'Weather in Ulm?' }],
}

async function loggedCall(id: string | null) {
  const find = async () => (await api.readTopic(topics.requestLogged)).find((call) => call.id === id)
  await until(async () => (await find()) !== undefined)
  return find()
}

test('a message belongs to the project whose key was presented, which the provider never sees', async () => {
  for (const { projectId, key } of projects) {
    const { data, response } = await clientOf(key).messages.create(asked).withResponse()
    expect(data.content).toEqual(content)
    expect(await loggedCall(response.headers.get('x-service-request-id'))).toMatchObject({
      project_id: projectId,
      provider: 'anthropic',
      model: 'claude-test',
      prompt_tokens: 20,
      cached_tokens: 5,
      completion_tokens: 12,
    })
  }
  expect([...presented]).toEqual(['undefined the-providers-key'])
})

test("what another project may have stored at the provider's is not forwarded", async () => {
  for (const path of ['/v1/files', '/v1/messages/batches', '/v1/files?of=/v1/models']) {
    const answer = await fetch(gateway.url + path, {
      headers: { authorization: `Bearer ${projects[0]?.key ?? ''}` },
    })
    const { error } = (await answer.json()) as { error: { code: string } }
    expect([path, answer.status, error.code]).toEqual([path, 403, 'path_not_forwarded'])
  }
  // An invalid path is the application's mistake, with or without projects.
  const headers = { authorization: `Bearer ${projects[0]?.key ?? ''}` }
  const asked = request(gateway.url, { method: 'OPTIONS', path: '*', headers }).end()
  const [said] = (await once(asked, 'response')) as [IncomingMessage]
  expect([said.statusCode, await json(said)]).toMatchObject([400, { error: { code: 'invalid_path' } }])
})

test('a streamed message with a tool is logged as the message that it amounts to', async () => {
  const stream = clientOf(projects[0]?.key).messages.stream(asked)
  const { content: streamed } = await stream.finalMessage()
  expect(streamed).toEqual(content)
  const call = await loggedCall(stream.response?.headers.get('x-service-request-id') ?? null)
  expect(call).toMatchObject({ completion_tokens: 12, aborted_by: null })
  if (call?.response_body == null) throw new Error('there is no answer')
  const body = sealer.open(call.response_body, sealedIdentity(call.project_id, call.id, 'response_body'))
  expect(JSON.parse(body.toString())).toMatchObject({ type: 'message', content, stop_reason: 'tool_use' })
})

test('an aborted stream is aborted at the provider, and logged with what came', async () => {
  const stream = clientOf(projects[0]?.key).messages.stream({ ...asked, model: 'endless' })
  stream.on('text', () => stream.abort())
  await expect(stream.finalMessage()).rejects.toThrow(/abort/i)
  await until(() => brokenOff === 1)
  const call = await loggedCall(stream.response?.headers.get('x-service-request-id') ?? null)
  expect(call).toMatchObject({ aborted_by: 'client', status_code: 200 })
  if (call?.response_body == null) throw new Error('there is no answer')
  const body = sealer.open(call.response_body, sealedIdentity(call.project_id, call.id, 'response_body'))
  expect(JSON.parse(body.toString())).toMatchObject({ content: [{ type: 'text', text: 'Let me ' }] })
})

test("the provider's error in a stream, at which the client closes, is logged as the provider's", async () => {
  const stream = clientOf(projects[0]?.key).messages.stream({ ...asked, model: 'failing' })
  await expect(stream.finalMessage()).rejects.toThrow(/Overloaded/)
  const call = await loggedCall(stream.response?.headers.get('x-service-request-id') ?? null)
  expect(call).toMatchObject({ aborted_by: null, status_code: 200, error: 'Overloaded' })
})

test('fifty clients at once, streaming with tools, are each logged once for their own project', async () => {
  const calls = await Promise.all(
    Array.from({ length: 50 }, async (_, n) => {
      const project = projects[n % 2]
      const stream = clientOf(project?.key).messages.stream(asked)
      expect((await stream.finalMessage()).content).toEqual(content)
      return { id: stream.response?.headers.get('x-service-request-id'), projectId: project?.projectId }
    }),
  )
  const logged = async () =>
    (await api.readTopic(topics.requestLogged)).map(({ id, project_id }) => `${project_id} ${id}`)
  const expected = calls.map(({ id, projectId }) => `${projectId} ${id}`)
  await until(async () => {
    const known = new Set(await logged())
    return expected.every((call) => known.has(call))
  })
  const all = await logged()
  for (const { id } of calls) expect(all.filter((call) => call.endsWith(` ${id}`))).toHaveLength(1)
})

test("requests of one project that withhold their ends leave room for what is recorded of another's", async () => {
  const headers = { authorization: `Bearer ${projects[0]?.key ?? ''}`, 'transfer-encoding': 'chunked' }
  const before = sent
  const held = request(`${gateway.url}/v1/messages`, { method: 'POST', headers })
  held.on('error', () => undefined).write(Buffer.alloc(3 * mebibyte, ' '))
  await until(() => sent - before === 3 * mebibyte)
  const long = { ...asked, system: 'x'.repeat(mebibyte / 4) }
  const { response } = await clientOf(projects[1]?.key).messages.create(long).withResponse()
  const call = await loggedCall(response.headers.get('x-service-request-id'))
  held.destroy()
  if (call?.request_body == null) throw new Error('there is no request')
  const body = sealer.open(call.request_body, sealedIdentity(call.project_id, call.id, 'request_body'))
  expect(JSON.parse(body.toString())).toEqual(long)
})

test("the provider's error and its headers reach the client as they are", async () => {
  const failure = await clientOf(projects[0]?.key)
    .messages.create({ ...asked, model: 'none' })
    .catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(APIError)
  const { status, headers } = failure as APIError
  expect([status, (headers as Headers).get('retry-after')]).toEqual([529, '7'])
})

test("a key that no project has is refused, and so is the gateway's own", async () => {
  for (const key of [`svc_${'0'.repeat(48)}`, 'a-proxy-key'])
    await expect(clientOf(key).messages.create(asked)).rejects.toMatchObject({ status: 401 })
})
