import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { bodyBytesWithin, callBytesWithin } from '#schemas/record-limits.ts'
import { startMockProvider, type MockProvider } from '../support/mock-provider.ts'
import { describeLedger, readLedger } from '../support/pipeline-ledger.ts'
import { startStack, type Stack } from '../support/start-stack.ts'
import { until } from '../support/until.ts'

jest.setTimeout(300_000)

const cap = 2 * 1024 * 1024
const maxBytes = callBytesWithin(cap)
let provider: MockProvider
let stack: Stack

beforeAll(async () => {
  provider = await startMockProvider()
  stack = await startStack({
    upstreamUrl: provider.url,
    insecureWebhookHosts: '127.0.0.1',
    environment: { KAFKA_MAX_RECORD_BYTES: String(cap), GATEWAY_DELIVERY: 'kafka' },
  })
})

afterAll(async () => {
  await stack.stop()
  await provider.stop()
})

/** A record of this size that zstd hardly compresses. */
function recordOf(bytes: number): string {
  const build = (content: string) =>
    JSON.stringify({ request_body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content }] } })
  const noise = randomBytes(bytes).toString('base64')
  return build(noise.slice(0, bytes - build('').length))
}

async function post(body: string): Promise<{ code: number; id?: string }> {
  const headers = { 'x-service-key': stack.apiKey, 'content-type': 'application/json' }
  const answer = await fetch(`${stack.apiUrl}/internal/log`, { method: 'POST', headers, body })
  const { id } = (await answer.json()) as { id?: string }
  return { code: answer.status, ...(id !== undefined && { id }) }
}

async function callWith(content: string): Promise<string> {
  const answer = await fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.proxyApiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }),
  })
  expect(answer.status).toBe(200)
  await answer.arrayBuffer()
  return answer.headers.get('x-service-request-id') ?? ''
}

test('with capped records, the largest accepted call is stored and scored, by any source', async () => {
  const body = recordOf(maxBytes)
  expect(body).toHaveLength(maxBytes)
  const posted = await post(body)
  expect(posted.code).toBe(202)
  expect(await post(recordOf(maxBytes + 1))).toEqual({ code: 413 })
  // One body recorded completely and one truncated, both published by the gateway.
  const whole = await callWith(randomBytes(bodyBytesWithin(cap) / 2).toString('base64'))
  const cut = await callWith(randomBytes(cap).toString('base64'))

  const ids = [posted.id ?? '', whole, cut].sort()
  const read = () => readLedger(stack.databaseUrl)
  const scoredIds = async () => [...new Set((await read()).scores.map(({ requestId }) => requestId))].sort()
  await until(
    async () => (await scoredIds()).length === ids.length,
    180_000,
    async () => describeLedger(await read(), ids.length),
  )
  expect(await scoredIds()).toEqual(ids)
  expect([...(await read()).stored].sort()).toEqual(ids)
})
