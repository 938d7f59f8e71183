import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import OpenAI, { AzureOpenAI, APIError } from 'openai'
import { listen } from '#runtime/operations-server.ts'
import { createSealer } from '#runtime/sealing.ts'
import { sealedIdentity, type SealedPart } from '#schemas/sealed-bytes.ts'
import { topics, type TopicValues } from '#schemas/topics.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { proxyKey, startGateway, type RunningGateway } from '#tests/support/start-gateway.ts'
import { until } from '#tests/support/until.ts'

let api: RunningApi
let provider: Server
let gateway: RunningGateway
let client: OpenAI
const sealer = createSealer([])

interface Asked {
  stream?: boolean
  model: string
  tools?: unknown
}

const toolCall = {
  index: 0,
  id: 't',
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"Ulm"}' },
}
const usage = {
  prompt_tokens: 30,
  completion_tokens: 9,
  total_tokens: 39,
  prompt_tokens_details: { cached_tokens: 10 },
  completion_tokens_details: { reasoning_tokens: 4 },
}

function answer(response: ServerResponse, asked: Asked): void {
  const common = { id: 'c', created: 1, model: asked.model }
  const message = asked.tools === undefined ? { content: 'Hello' } : { content: null, tool_calls: [toolCall] }
  if (asked.model === 'none') {
    response.writeHead(404, { 'content-type': 'application/json' })
    response.end(
      '{"error":{"message":"no such model","type":"invalid_request_error","code":"model_not_found"}}',
    )
  } else if (asked.stream === true) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (choices: unknown[], more = {}) =>
      response.write(
        `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices, ...more })}\n\n`,
      )
    send([{ index: 0, delta: { role: 'assistant', ...message }, finish_reason: null }])
    send([{ index: 0, delta: {}, finish_reason: 'stop' }])
    send([], { usage })
    response.end('data: [DONE]\n\n')
  } else {
    response.writeHead(200, { 'content-type': 'application/json' })
    const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }]
    response.end(JSON.stringify({ ...common, object: 'chat.completion', choices, usage }))
  }
}

beforeAll(async () => {
  api = await startApi()
  const project = await api.createProject()
  provider = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => answer(response, JSON.parse(Buffer.concat(chunks).toString()) as Asked))
  })
  await listen(provider, 0, '127.0.0.1')
  gateway = await startGateway({
    UPSTREAM_URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
    API_BACKEND_URL: api.baseUrl,
    SERVICE_API_KEY: project.key,
  })
  client = new OpenAI({ apiKey: proxyKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
})

afterAll(async () => {
  await gateway.stop()
  provider.closeAllConnections()
  await new Promise((resolve) => provider.close(resolve))
  await api.stop()
})

const messages = [{ role: 'user' as const, content: 'Hi there' }]
const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: {} } }]

async function loggedCall(id: string | null) {
  let found: TopicValues['LlmRequestLogged'] | undefined
  await until(async () => {
    found = (await api.readTopic(topics.requestLogged)).find((call) => call.id === id)
    return found !== undefined
  })
  return found
}

function bodyOf(call: TopicValues['LlmRequestLogged'] | undefined, part: SealedPart): unknown {
  const sealed = part === 'request_body' ? call?.request_body : call?.response_body
  if (call === undefined || sealed === null || sealed === undefined) return undefined
  return JSON.parse(sealer.open(sealed, sealedIdentity(call.project_id, call.id, part)).toString())
}

test('Azure: the key in api-key, as docs/applications.md has it, and a label beyond ASCII', async () => {
  const azure = new AzureOpenAI({
    endpoint: gateway.url,
    apiVersion: '2024-10-21',
    apiKey: proxyKey,
  })
  const headers = { 'X-Service-Agent-Name': Buffer.from('Zoë').toString('latin1') }
  const { response } = await azure.chat.completions
    .create({ model: 'dep-1', messages }, { headers })
    .withResponse()
  const call = await loggedCall(response.headers.get('x-service-request-id'))
  expect(call).toMatchObject({ provider: 'azure', agent_name: 'Zoë', status_code: 200 })
})

test('a completion is answered, and logged with model, provider and disjoint tokens', async () => {
  const { data, response } = await client.chat.completions
    .create({ model: 'gpt-4o-mini', messages }, { headers: { 'X-Service-Session-Id': 's1' } })
    .withResponse()
  expect(data.choices[0]?.message.content).toBe('Hello')
  const call = await loggedCall(response.headers.get('x-service-request-id'))
  expect(call).toMatchObject({
    source: 'gateway',
    model: 'gpt-4o-mini',
    provider: 'openai',
    session_id: 's1',
    prompt_tokens: 20,
    cached_tokens: 10,
    completion_tokens: 5,
    reasoning_tokens: 4,
    status_code: 200,
  })
  expect(bodyOf(call, 'request_body')).toMatchObject({ messages })
})

test('a stream with a tool is answered, and logged as the message that it amounts to', async () => {
  const { data, response } = await client.chat.completions
    .create({ model: 'gpt-4o-mini', messages, tools, stream: true, stream_options: { include_usage: true } })
    .withResponse()
  let calls = 0
  for await (const chunk of data) calls += chunk.choices[0]?.delta.tool_calls?.length ?? 0
  expect(calls).toBe(1)
  const call = await loggedCall(response.headers.get('x-service-request-id'))
  expect(call).toMatchObject({ prompt_tokens: 20, aborted_by: null })
  const whole = { id: 't', type: 'function', function: toolCall.function }
  expect(bodyOf(call, 'response_body')).toMatchObject({
    object: 'chat.completion',
    choices: [{ message: { tool_calls: [whole] }, finish_reason: 'stop' }],
  })
})

test("the provider's error reaches the client as its own, and is logged", async () => {
  const failure = await client.chat.completions
    .create({ model: 'none', messages })
    .catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(APIError)
  const { status, message, headers } = failure as APIError
  expect(status).toBe(404)
  expect(message).toContain('no such model')
  const call = await loggedCall((headers as Headers).get('x-service-request-id'))
  expect(call).toMatchObject({ status_code: 404, error: 'no such model' })
})

test('a wrong key is an authentication error to the client', async () => {
  const stranger = new OpenAI({ apiKey: 'nope', baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  await expect(stranger.models.list()).rejects.toThrow(/401/)
})

test('fifty streams at once are all logged, once each', async () => {
  const ids = await Promise.all(
    Array.from({ length: 50 }, async (_, n) => {
      const { data, response } = await client.chat.completions
        .create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: `n${n}` }], stream: true })
        .withResponse()
      for await (const chunk of data) expect(chunk.model).toBe('gpt-4o-mini')
      return response.headers.get('x-service-request-id')
    }),
  )
  const logged = async () => (await api.readTopic(topics.requestLogged)).map(({ id }) => id)
  await until(async () => {
    const known = new Set(await logged())
    return ids.every((id) => known.has(id ?? ''))
  })
  const all = await logged()
  for (const id of ids) expect(all.filter((known) => known === id)).toHaveLength(1)
})
