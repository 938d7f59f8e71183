import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import OpenAI from 'openai'
import { startMockJudge, type MockJudge } from '../support/mock-judge.ts'
import { startMockProvider, type MockProvider } from '../support/mock-provider.ts'
import { describeLedger, failingScores, readLedger, scorerSets } from '../support/pipeline-ledger.ts'
import { builtInScorers } from '#schemas/verdicts.ts'
import { createWebhook } from '../support/create-webhook.ts'
import { realPrompts } from '../support/real-prompts.ts'
import { sendPrompts } from '../support/send-prompts.ts'
import { examinePanels } from '../support/examine-panels.ts'
import { lintMetrics } from '../support/lint-metrics.ts'
import { startPrometheus, type Prometheus } from '../support/start-prometheus.ts'
import { startStack, type Stack } from '../support/start-stack.ts'
import { until } from '../support/until.ts'
import {
  startWebhookReceiver,
  type ReceivedDelivery,
  type WebhookReceiver,
} from '../support/webhook-receiver.ts'

jest.setTimeout(300_000)

// The enterprise tier of evals/tiers.yaml. The custom scorer of evals/scorers.yaml is off.
const scorers = [...builtInScorers].sort()
let provider: MockProvider
let judge: MockJudge
let receiver: WebhookReceiver
let stack: Stack
let prometheus: Prometheus

beforeAll(async () => {
  provider = await startMockProvider()
  judge = await startMockJudge()
  receiver = await startWebhookReceiver()
  stack = await startStack({
    upstreamUrl: provider.url,
    insecureWebhookHosts: '127.0.0.1',
    environment: { OPENAI_BASE_URL: judge.url, OPENAI_API_KEY: 'not-checked-by-this-judge' },
  })
  // Before any call: panels and alerts are about increases of counters.
  prometheus = await startPrometheus(operationsPorts())
})

afterAll(async () => {
  await prometheus.stop()
  await stack.stop()
  await receiver.close()
  await judge.stop()
  await provider.stop()
})

test('real prompts through the gateway: each stored once, scored once by every scorer, each failing score delivered once', async () => {
  receiver.trust(await createWebhook(stack, receiver.url))

  const sent = await sendPrompts({ ...stack, prompts: realPrompts(240), concurrency: 16 })
  const expectedScores = sent.length * scorers.length
  const read = () => readLedger(stack.databaseUrl)
  await until(
    async () => {
      const { scores, unpublished } = await read()
      return scores.length >= expectedScores && unpublished === 0
    },
    120_000,
    async () => describeLedger(await read(), sent.length),
  )
  const ledger = await read()
  expect([...ledger.stored].sort()).toEqual([...sent].sort())
  expect(scorerSets(ledger)).toEqual([scorers])
  expect(ledger.scores).toHaveLength(expectedScores)

  const failing = failingScores(ledger)
  expect(failing.length).toBeGreaterThan(15)
  await receiver.waitFor((deliveries) => deliveries.length >= failing.length)
  const delivered = receiver.deliveries.map(
    ({ envelope: { data } }) => `${String(data['request_id'])}/${String(data['scorer_name'])}`,
  )
  expect(delivered.sort()).toEqual(failing)
  expect(receiver.deliveries.every(({ verified }) => verified === true)).toBe(true)

  const logLines = async () =>
    (await stack.processes.sink.output()).split('\n').filter((line) => line.includes('safety_score_written'))
  // Written after the commit, by another process.
  await until(async () => (await logLines()).length >= expectedScores)
  expect(await logLines()).toHaveLength(expectedScores)
})

test('the API returns a call with its bodies and scores, only to its own project', async () => {
  const response = await client()
    .chat.completions.create({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'My card is 4111 1111 1111 1111.' }],
    })
    .withResponse()
  const id = response.response.headers.get('x-service-request-id') as string
  const read = async () => (await get(`/api/requests/${id}`, stack.apiKey)) as StoredCall
  await until(
    async () => ((await read()).safety_scores?.length ?? 0) > 0,
    180_000,
    async () => JSON.stringify(await read()),
  )
  const call = await read()
  expect(call).toMatchObject({
    id,
    project_id: stack.projectId,
    model: 'gpt-4o-mini',
    provider: 'openai',
    prompt_tokens: 12,
    completion_tokens: 6,
    request_body: { messages: [{ role: 'user', content: 'My card is 4111 1111 1111 1111.' }] },
  })
  expect(call.safety_scores?.find(({ scorer_name }) => scorer_name === 'pii_detection')).toMatchObject({
    score_label: 'unsafe',
    method: 'detector',
    owasp_category: 'LLM02',
  })
  const other = await stack.createProject()
  expect((await fetchApi(`/api/requests/${id}`, other.apiKey)).status).toBe(404)
})

test('a rotated secret signs from the next event on, together with the old one until the overlap ends', async () => {
  const { apiKey } = await stack.createProject()
  const ends = await startWebhookReceiver()
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { 'x-service-key': apiKey, 'content-type': 'application/json' }
    const answer = await fetch(stack.apiUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await answer.json()) as Record<string, unknown>
  }
  const made = await post('/api/v1/webhooks', { url: ends.url, events: ['usage_alert'] })
  const path = `/api/v1/webhooks/${String(made['id'])}`
  const nextDelivery = async () => {
    const { delivery_id: id } = await post(`${path}/test`, {})
    await ends.waitFor((all) => all.some(({ deliveryId }) => deliveryId === id))
    return ends.deliveries.find(({ deliveryId }) => deliveryId === id) as ReceivedDelivery
  }
  const rotate = async (seconds: number) =>
    String((await post(`${path}/rotate-secret`, { overlap_seconds: seconds }))['secret'])
  try {
    const first = String(made['secret'])
    ends.trust(first)
    expect(await nextDelivery()).toMatchObject({ verified: true })
    const second = await rotate(3_600)
    ends.trust(second)
    const during = await nextDelivery()
    expect(during.verified).toBe(true)
    expect(during.headers['x-service-signature-previous']).toBe(signatureOf(during.body, first))
    ends.trust(await rotate(1))
    // Each signed with the newest secret; deliveries within the second also with the previous one.
    const isOver = async () => {
      const { verified, headers } = await nextDelivery()
      expect(verified).toBe(true)
      return headers['x-service-signature-previous'] === undefined
    }
    await until(isOver)
  } finally {
    await ends.close()
  }
})

test('every panel of every dashboard has data, metrics are well-formed, and no alert fires', async () => {
  await until(
    async () => {
      // A rate needs increases between two scrapes: earlier calls may all precede the first.
      const messages = [{ role: 'user' as const, content: 'What is the capital of France?' }]
      await client().chat.completions.create({ model: 'gpt-4o-mini', messages })
      return (await examinePanels(prometheus, stack.databaseUrl)).length === 0
    },
    180_000,
    async () => (await examinePanels(prometheus, stack.databaseUrl)).join('\n'),
  )
  expect(await lintMetrics(operationsPorts())).toEqual([])
  const { groups } = await prometheus.get<RuleGroups>('rules')
  const rules = groups.flatMap((group) => group.rules)
  expect(rules.filter(({ health, state }) => health !== 'ok' || state === 'firing')).toEqual([])
  expect(rules.length).toBeGreaterThan(20)
})

interface RuleGroups {
  groups: { rules: { name: string; health: string; state: string }[] }[]
}

function operationsPorts(): Record<string, number> {
  return Object.fromEntries(
    Object.entries(stack.processes).map(([name, { operationsPort }]) => [name, operationsPort]),
  )
}

function signatureOf(body: Buffer, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

interface StoredCall {
  safety_scores?: { scorer_name: string }[]
}

function client(): OpenAI {
  return new OpenAI({ baseURL: `${stack.gatewayUrl}/v1`, apiKey: stack.proxyApiKey, maxRetries: 0 })
}

function fetchApi(path: string, key: string): Promise<Response> {
  return fetch(stack.apiUrl + path, { headers: { 'x-service-key': key } })
}

async function get(path: string, key: string): Promise<unknown> {
  return (await fetchApi(path, key)).json()
}
