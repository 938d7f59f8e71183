import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { startLocalServer, type LocalServer } from '../support/local-server.ts'
import { createWebhook } from '../support/create-webhook.ts'
import { testInfrastructure } from '../support/infrastructure.ts'
import { proxyKey } from '../support/start-gateway.ts'
import { startGatewayProcess } from '../support/start-gateway-process.ts'
import { startStack, type Stack } from '../support/start-stack.ts'
import { startTraceReceiver, type ReceivedSpan, type TraceReceiver } from '../support/trace-receiver.ts'
import { readMetric } from '../support/read-metric.ts'
import { until } from '../support/until.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

jest.setTimeout(300_000)

const traceId = '0af7651916cd43dd8448eb211c80319c'
const callersSpan = 'b7ad6b7169203331'
const traceparent = `00-${traceId}-${callersSpan}-01`
const tracestate = 'vendor=1,other=a"b'
const card = '4111 1111 1111 1111'

let provider: LocalServer
const asked: { raw: string[]; headers: IncomingHttpHeaders }[] = []
let traces: TraceReceiver
let receiver: WebhookReceiver
let stack: Stack

beforeAll(async () => {
  traces = await startTraceReceiver()
  receiver = await startWebhookReceiver()
  provider = await startLocalServer(
    createServer((request, response) => {
      asked.push({ raw: request.rawHeaders, headers: request.headers })
      request.resume()
      request.on('end', () => {
        const choices = [
          { index: 0, message: { role: 'assistant', content: 'Noted.' }, finish_reason: 'stop' },
        ]
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ object: 'chat.completion', model: 'gpt-4o-mini', choices }))
      })
    }),
  )
  stack = await startStack({
    upstreamUrl: provider.url,
    insecureWebhookHosts: '127.0.0.1',
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: traces.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-own=of%20traces',
    },
  })
  receiver.trust(await createWebhook(stack, receiver.url))
})

afterAll(async () => {
  await stack.stop()
  await provider.stop()
  await receiver.close()
  await traces.stop()
})

/** The spans between the application's call and the webhook, each a child of the one before. */
const chain = [
  'sluice-gateway forward call',
  'sluice-gateway POST /internal/log',
  'sluice-api POST /internal/log',
  'sluice-api send llm.request.logged',
  'sluice-sink process llm.request.logged',
  'sluice-sink send safety_score_jobs',
  'sluice-scorer process safety_score_jobs',
  'sluice-scorer send safety.score.recorded',
  'sluice-sink process safety.score.recorded',
  'sluice-sink send event.raised',
  'sluice-notifier process event.raised',
  'sluice-notifier deliver event',
]

test("a call's trace goes on through every process to its webhook, and changes no header", async () => {
  const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: `My card is ${card}.` }] }
  const answer = await fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${stack.proxyApiKey}`, 'content-type': 'application/json' },
      ...{ traceparent, tracestate },
    },
    body: JSON.stringify(body),
  })
  const requestId = answer.headers.get('x-service-request-id')
  expect(answer.status).toBe(200)
  expect(asked.map(({ headers }) => [headers['traceparent'], headers['tracestate']])).toEqual([
    [traceparent, tracestate],
  ])

  const own = () => traces.spans.filter((span) => span.traceId === traceId)
  await until(
    async () => Promise.resolve(own().some(({ name }) => name === 'deliver event')),
    120_000,
    () => Promise.resolve(own().map(nameOf).join('\n')),
  )
  await until(() => Promise.resolve(chainTo('deliver event', own()).length >= chain.length))
  expect(chainTo('deliver event', own())).toEqual(chain)
  const first = own().find(({ name }) => name === 'forward call')
  expect(first).toMatchObject({
    parentSpanId: callersSpan,
    attributes: { 'sluice.request_id': requestId, 'http.response.status_code': '200' },
  })

  const [delivery] = receiver.deliveries
  expect(delivery?.verified).toBe(true)
  expect(Object.keys(delivery?.headers ?? {}).filter((name) => name.startsWith('trace'))).toEqual([])
  expect(traces.headers.every((headers) => headers['x-own'] === 'of traces')).toBe(true)
  const said = JSON.stringify(traces.spans)
  for (const secret of [card, stack.apiKey, stack.proxyApiKey, stack.operatorSecret, 'Noted'])
    expect(said).not.toContain(secret)
})

test('a gateway that publishes by itself sends the trace on', async () => {
  const { brokers, registryUrl } = testInfrastructure()
  const directory = await mkdtemp(join(tmpdir(), 'sluice-traced-'))
  const gateway = await startGatewayProcess({
    directory,
    providerUrl: provider.url,
    receiverUrl: stack.apiUrl,
    environment: {
      ...{ GATEWAY_DELIVERY: 'kafka', SERVICE_API_KEY: stack.apiKey, TOPIC_PREFIX: stack.topicPrefix },
      ...{ KAFKA_BROKERS: brokers.join(), SCHEMA_REGISTRY_URL: registryUrl },
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: traces.url, OTEL_SERVICE_NAME: 'publishing' },
    },
  })
  try {
    const own = '4'.repeat(32)
    await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${proxyKey}`, traceparent: `00-${own}-${callersSpan}-01` },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }),
    })
    const job = `process ${stack.topicPrefix}safety_score_jobs`
    const names = () =>
      chainTo(
        job,
        traces.spans.filter((span) => span.traceId === own),
      )
    const expected = ['publishing forward call', 'publishing send llm.request.logged', ...chain.slice(4, 7)]
    await until(
      () => Promise.resolve(names().length >= expected.length),
      120_000,
      () => Promise.resolve(names().join('\n')),
    )
    expect(names()).toEqual(expected)
  } finally {
    await gateway.stop()
    await rm(directory, { recursive: true, force: true })
  }
})

test('the records of one batch keep their own traces', async () => {
  const ids = ['1'.repeat(32), '2'.repeat(32), '3'.repeat(32)]
  const records = ids.map((id) => ({
    request_body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] },
    traceparent: `00-${id}-${callersSpan}-01`,
  }))
  const answer = await fetch(`${stack.apiUrl}/internal/log/batch`, {
    method: 'POST',
    headers: { 'x-service-key': stack.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ records }),
  })
  expect(answer.status).toBe(200)
  const ofEach = () =>
    ids.map((id) => {
      const own = traces.spans.filter((span) => span.traceId === id)
      return own
        .map(nameOf)
        .filter((name) => /send llm|send safety_score_jobs|process safety_score_jobs/.test(name))
    })
  const expected = [
    'sluice-api send llm.request.logged',
    'sluice-scorer process safety_score_jobs',
    'sluice-sink send safety_score_jobs',
  ]
  await until(
    () => Promise.resolve(ofEach().every((names) => names.length >= expected.length)),
    120_000,
    () => Promise.resolve(JSON.stringify(ofEach())),
  )
  expect(ofEach().map((names) => names.sort())).toEqual(ids.map(() => expected))
})

test('a receiver that refuses all spans costs spans, which are counted, and no call', async () => {
  const before = receiver.deliveries.length
  const lost = () => readMetric(stack.processes.gateway.operationsPort, 'sluice_traces_dropped_total')
  expect(await lost()).toBe(0)
  traces.answerWith(400)
  const answer = await fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.proxyApiKey}` },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: `My card is ${card}.` }],
    }),
  })
  expect(answer.status).toBe(200)
  await receiver.waitFor((deliveries) => deliveries.length > before)
  await until(async () => (await lost()) >= 2)
  expect(Object.values(stack.processes).map(({ restarts }) => restarts())).toEqual([0, 0, 0, 0, 0])
})

/** Topics have the stack's prefix. */
function nameOf({ service, name }: ReceivedSpan): string {
  return `${service} ${name.replace(stack.topicPrefix, '')}`
}

function chainTo(name: string, spans: readonly ReceivedSpan[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const names: string[] = []
  for (let span = spans.find((one) => one.name === name); span !== undefined;) {
    names.unshift(nameOf(span))
    span = byId.get(span.parentSpanId)
  }
  return names
}
