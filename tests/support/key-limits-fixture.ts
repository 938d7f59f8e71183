import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals'
import { topics } from '#schemas/topics.ts'
import { sized, startRawUpstream, type RawUpstream } from './raw-upstream.ts'
import { operatorSecret, startApi, type RunningApi } from './start-api.ts'
import { startGatewayProcess, type GatewayProcess } from './start-gateway-process.ts'
import { startGateway, type RunningGateway } from './start-gateway.ts'
import { until } from './until.ts'

export interface PostedCall {
  status: number
  id: string
  headers: Record<string, unknown>
  json: { error?: { code: string; message: string } }
}

interface PostOptions {
  path?: string
  headers?: Record<string, string>
  through?: string
  method?: string
}

const json = ['Content-Type: application/json']
const completion = (model: string | undefined) =>
  JSON.stringify({
    object: 'chat.completion',
    model,
    choices: [{ message: { role: 'assistant', content: 'ANSWERED' } }],
    usage: { prompt_tokens: 10, completion_tokens: 5 },
  })

/** Keys with limits: the real API, a gateway in this process, and one with two workers. */
export function useKeyLimits() {
  let api: RunningApi
  let upstream: RawUpstream
  let gateway: RunningGateway
  let workers: GatewayProcess
  let directory: string
  let projectId: string

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sluice-keys-'))
    const prices = join(directory, 'prices.json')
    // A call of `fixed` costs 7 cents, whatever is said.
    const models = [
      { models: ['fixed'], input: 0, output: 0, call: 0.07 },
      { models: ['by-token'], input: 1_000, output: 1_000 },
    ]
    await writeFile(prices, JSON.stringify({ prices: models }))
    api = await startApi({ PRICES_FILE: prices })
    ;({ projectId } = await api.createProject())
    upstream = await startRawUpstream()
    const environment = {
      API_BACKEND_URL: api.baseUrl,
      UPSTREAM_URL: upstream.url,
      UPSTREAM_API_KEY: 'the-providers-key',
      GATEWAY_AUTH: 'project_keys',
      INTERNAL_API_SECRET: operatorSecret,
      PRICES_FILE: prices,
      GATEWAY_HEARTBEAT_MS: '500',
    }
    gateway = await startGateway(environment)
    workers = await startGatewayProcess({
      directory,
      providerUrl: upstream.url,
      receiverUrl: api.baseUrl,
      environment: { ...environment, GATEWAY_WORKERS: '2' },
    })
  })
  afterAll(async () => {
    await gateway.stop()
    await workers.stop()
    await upstream.stop()
    await api.stop()
    await rm(directory, { recursive: true })
  })
  beforeEach(() => {
    upstream.answer((socket, { body }) => {
      const model = /"model":"([^"]*)"/.exec(body.toString())?.[1]
      sized('200 OK', json, completion(model))(socket, { lines: [], body })
    })
  })

  return {
    get api() {
      return api
    },
    get upstream() {
      return upstream
    },
    get gateway() {
      return gateway
    },
    get workersUrl() {
      return workers.url
    },
    get projectId() {
      return projectId
    },
    answer: (status: string, body: string) => upstream.answer(sized(status, json, body)),
    makeKey: async (more: object) => {
      const body = { name: 'Ada', ...more }
      const made = await api.call('POST', `/api/projects/${projectId}/keys`, { operator: true, body })
      expect([made.status, made.text]).toEqual([201, made.text])
      return { id: String(made.json['id']), key: String(made.json['key']) }
    },
    describeKey: async (id: string) =>
      (await api.call('GET', `/api/projects/${projectId}/keys/${id}`, { operator: true })).json,
    post: (key: string, body: string | Buffer, options: PostOptions = {}) =>
      post(key, body, { through: gateway.url, ...options }),
    recordOf: async (id: string) => {
      const find = async () => (await api.readTopic(topics.requestLogged)).find((call) => call.id === id)
      await until(async () => (await find()) !== undefined)
      return find()
    },
  }
}

/** On a connection of its own, so that workers share the calls. */
function post(
  key: string,
  body: string | Buffer,
  { path = '/v1/chat/completions', headers = {}, through = '', method = 'POST' }: PostOptions,
): Promise<PostedCall> {
  return new Promise((resolve, reject) => {
    const sent = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers }
    const length = 'transfer-encoding' in headers ? {} : { 'content-length': Buffer.byteLength(body) }
    const options = { method, agent: false as const, headers: { ...sent, ...length } }
    request(through + path, options, (response) => {
      let text = ''
      response.on('data', (data: Buffer) => (text += data.toString()))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          id: String(response.headers['x-service-request-id']),
          headers: response.headers,
          json: JSON.parse(text) as PostedCall['json'],
        }),
      )
    })
      .on('error', reject)
      .end(body)
  })
}
