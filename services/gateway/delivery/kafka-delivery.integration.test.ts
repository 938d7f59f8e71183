import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { topics } from '#schemas/topics.ts'
import { testInfrastructure } from '#tests/support/infrastructure.ts'
import { sized, startRawUpstream, type RawUpstream } from '#tests/support/raw-upstream.ts'
import { operatorSecret, startApi, type RunningApi } from '#tests/support/start-api.ts'
import { proxyKey, startGateway, type RunningGateway } from '#tests/support/start-gateway.ts'
import { until } from '#tests/support/until.ts'

const key32 = Buffer.alloc(32, 7)
const BODY_ENCRYPTION_KEYS = `k1:${key32.toString('base64')}`
const sealer = createSealer([{ id: 'k1', key: key32 }])
const request =
  '{ "model":"gpt-4o-mini", "n":12345678901234567890, "messages":[{"role":"user","content":"hi"}] }'
const answer = JSON.stringify({
  object: 'chat.completion',
  model: 'gpt-4o-mini-2024-07-18',
  choices: [
    { message: { tool_calls: [{ type: 'function', function: { name: 'search', arguments: '{}' } }] } },
  ],
  usage: { prompt_tokens: 1_000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 400 } },
})
let api: RunningApi
let upstream: RawUpstream
const gateways: RunningGateway[] = []

beforeAll(async () => {
  api = await startApi({ BODY_ENCRYPTION_KEYS })
  upstream = await startRawUpstream()
  upstream.answer(sized('200 OK', ['Content-Type: application/json'], answer))
})
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop()
  await upstream.stop()
  await api.stop()
})

async function start(environment: Record<string, string>): Promise<RunningGateway> {
  const { brokers, registryUrl } = testInfrastructure()
  const gateway = await startGateway({
    UPSTREAM_URL: upstream.url,
    API_BACKEND_URL: api.baseUrl,
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    TOPIC_PREFIX: api.topicPrefix,
    BODY_ENCRYPTION_KEYS,
    ...environment,
  })
  gateways.push(gateway)
  return gateway
}

async function callThrough(gateway: RunningGateway, key = proxyKey): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    body: request,
    headers: {
      authorization: `Bearer ${key}`,
      'x-service-agent-name': 'clerk',
      'x-service-metadata': '{"a":[1]}',
    },
  })
  expect(response.status).toBe(200)
  return response.headers.get('x-service-request-id') ?? ''
}

async function loggedCall(id: string, topic = topics.requestLogged): Promise<LoggedCall> {
  let found: LoggedCall | undefined
  await until(async () => (found = (await api.readTopic(topic)).find((call) => call.id === id)) !== undefined)
  if (found === undefined) throw new Error('it is there')
  return found
}

function opened(call: LoggedCall, part: 'request_body' | 'response_body' | 'call_preview'): string {
  const sealed = part === 'call_preview' ? call.preview : call[part]
  if (sealed === null) throw new Error(`there is no ${part}`)
  expect(sealed.key_id).toBe('k1')
  return sealer.open(sealed, sealedIdentity(call.project_id, call.id, part)).toString()
}

test('a gateway publishes what ingest would have published of the same call', async () => {
  const { key, projectId } = await api.createProject()
  const posting = await start({ SERVICE_API_KEY: key })
  const publishing = await start({ SERVICE_API_KEY: key, GATEWAY_DELIVERY: 'kafka' })
  const [posted, published] = await Promise.all([
    loggedCall(await callThrough(posting)),
    loggedCall(await callThrough(publishing)),
  ])
  const itsOwn = {
    id: '',
    latency_ms: 0,
    received_at: 0,
    request_body: null,
    response_body: null,
    preview: null,
  }
  expect({ ...published, ...itsOwn }).toEqual({ ...posted, ...itsOwn })
  expect(published).toMatchObject({ project_id: projectId, tool_names: ['search'], prompt_tokens: 600 })
  expect(published.cost_usd).toBeGreaterThan(0)
  expect([opened(published, 'request_body'), opened(published, 'response_body')]).toEqual([request, answer])
  expect(opened(published, 'call_preview')).toBe(opened(posted, 'call_preview'))
  expect(await publishing.metrics.registry.getSingleMetricAsString('sluice_producer_records_total')).toMatch(
    /\} 1$/m,
  )
})

test("with keys of projects: content that is not kept goes to the topic that keeps nothing, and a tier's limit is still kept by the API", async () => {
  const [silent, free] = [
    await api.createProject({ zero_content_retention: true }),
    await api.createProject({ tier: 'free' }),
  ]
  const gateway = await start({
    GATEWAY_AUTH: 'project_keys',
    GATEWAY_DELIVERY: 'kafka',
    UPSTREAM_API_KEY: 'up',
    INTERNAL_API_SECRET: operatorSecret,
    SERVICE_API_KEY: '',
  })
  const [silentId, freeId] = [await callThrough(gateway, silent.key), await callThrough(gateway, free.key)]
  const kept = await loggedCall(silentId)
  expect([kept.project_id, kept.request_body, kept.response_body]).toEqual([silent.projectId, null, null])
  expect(opened(await loggedCall(silentId, topics.requestEphemeral), 'request_body')).toBe(request)
  expect(await loggedCall(freeId)).toMatchObject({ project_id: free.projectId, tier: 'free' })
  const { json } = await api.call('GET', '/api/billing/subscription', { key: free.key })
  expect(json['requests_this_period']).toBe(1)
})

test('a gateway of a project whose tier has a limit refuses to start', async () => {
  const { key, projectId } = await api.createProject({ tier: 'pro' })
  await expect(start({ SERVICE_API_KEY: key, GATEWAY_DELIVERY: 'kafka' })).rejects.toThrow(
    `GATEWAY_DELIVERY=kafka: project ${projectId} is on tier pro`,
  )
})

test('with a key that was revoked nothing is published by what the API said before, nor once it is away: records wait, and /readyz tells', async () => {
  const { key, keyId, projectId } = await api.createProject()
  const directory = await mkdtemp(join(tmpdir(), 'sluice-revoked-'))
  const given = { SERVICE_API_KEY: key, GATEWAY_DELIVERY: 'kafka', SPOOL_DIR: directory }
  try {
    const before = await start(given)
    await loggedCall(await callThrough(before))
    await before.stop()
    await api.call('PATCH', `/api/projects/${projectId}`, {
      operator: true,
      body: { zero_content_retention: true },
    })
    await api.call('DELETE', `/api/projects/${projectId}/keys/${keyId}`, { operator: true })
    for (const [url, problem] of [
      [api.baseUrl, '401'],
      ['http://127.0.0.1:1', 'ECONNREFUSED'],
    ] as const) {
      const after = await start({ ...given, API_BACKEND_URL: url })
      const project = expect.stringContaining(problem)
      expect(after.gateway.health()).toMatchObject({ status: 'degraded', problems: { project } })
      const id = await callThrough(after)
      await until(() => Promise.resolve(after.gateway.health().problems?.['backend'] !== undefined))
      expect((await api.readTopic(topics.requestLogged)).some((call) => call.id === id)).toBe(false)
      await after.stop()
    }
  } finally {
    await rm(directory, { recursive: true })
  }
})
