import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createClient } from '../../../sdk/typescript/index.ts'
import { frameworkCases, type FrameworkCall } from '../../../sdk/typescript/testing/framework-calls.ts'
import { startProtocolServer, type ProtocolServer } from '../../../sdk/typescript/testing/protocol-server.ts'
import { startStack, type Stack } from '../../support/start-stack.ts'
import { until } from '../../support/until.ts'

/** What is stored of calls by the SDK's fetch, beside what the gateway stores of the same calls. */
let provider: ProtocolServer
let stack: Stack

beforeAll(async () => {
  provider = await startProtocolServer()
  stack = await startStack({
    upstreamUrl: provider.url,
    insecureWebhookHosts: '',
    // Also the providers' own paths: Bedrock's and Ollama's.
    environment: { GATEWAY_RECORD_OTHER: 'true' },
  })
})
afterAll(async () => {
  await stack.stop()
  await provider.stop()
})

type Stored = Record<string, unknown>

/** Makes a call in a session of its own, directly or through the gateway, and returns its stored record. */
async function stored({ ask }: FrameworkCall, streamed: boolean, url: string, session: string) {
  const { apiKey, apiUrl, gatewayUrl, proxyApiKey } = stack
  const sluice = createClient({ apiKey, baseUrl: apiUrl, proxyUrl: gatewayUrl, proxyApiKey })
  const labels = { sessionId: session, agentName: 'tester', userId: 'u-42', metadata: { team: 'x' } }
  const got = await sluice.withSession(labels, () => ask(streamed, { url, fetch: sluice.createFetch() }))
  await sluice.shutdown(60_000)
  const read = async (path: string): Promise<unknown> =>
    (await fetch(apiUrl + path, { headers: { 'x-service-key': apiKey } })).json()
  const list = async () => (await read(`/api/requests?session_id=${session}`)) as { items: Stored[] }
  await until(async () => (await list()).items.some(({ verdict }) => verdict !== null))
  const { items } = await list()
  expect(items).toHaveLength(1)
  return { got, record: (await read(`/api/requests/${String(items[0]?.['id'])}`)) as Stored }
}

/** Without what differs between any two calls. */
function comparable(record: Stored) {
  const { source, id, session_id, created_at, latency_ms, time_to_first_token_ms, ...others } = record
  for (const value of [id, session_id, created_at]) expect(typeof value).toBe('string')
  expect(typeof latency_ms).toBe('number')
  const { safety_scores: scores, ...same } = others
  const labels = (scores as Stored[]).map(({ scorer, label }) => [scorer, label]).sort()
  return { source, same, labels, hasFirstToken: time_to_first_token_ms !== null }
}

test.each(frameworkCases)("%s: the record is the gateway's", async (name, streamed, call) => {
  const session = name.replaceAll(/\W+/g, '-')
  const direct = await stored(call, streamed, provider.url, `${session}-direct`)
  const proxied = await stored(call, streamed, stack.gatewayUrl, `${session}-gateway`)
  expect(proxied.got).toEqual(direct.got)
  const [bySdk, byGateway] = [comparable(direct.record), comparable(proxied.record)]
  expect(bySdk).toEqual({ ...byGateway, source: 'sdk' })
  expect(bySdk).toMatchObject({ same: { ...call.tells, user_id: 'u-42' }, hasFirstToken: streamed })
  expect(byGateway.source).toBe('gateway')
})
