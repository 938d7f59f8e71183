import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startRawUpstream, type RawUpstream } from '#tests/support/raw-upstream.ts'
import { startRecordReceiver, type RecordReceiver } from '#tests/support/record-receiver.ts'
import { startGateway } from '#tests/support/start-gateway.ts'
import { startGatewayProcess, type GatewayProcess } from '#tests/support/start-gateway-process.ts'
import { startTraceReceiver, type TraceReceiver } from '#tests/support/trace-receiver.ts'
import { until } from '#tests/support/until.ts'

const key = 'planted-proxy-key'
let upstream: RawUpstream
let receiver: RecordReceiver
let traces: TraceReceiver
let gateway: GatewayProcess
let directory: string

beforeAll(async () => {
  upstream = await startRawUpstream()
  receiver = await startRecordReceiver()
  traces = await startTraceReceiver()
  directory = await mkdtemp(join(tmpdir(), 'sluice-query-key-'))
  gateway = await startGatewayProcess({
    directory,
    providerUrl: upstream.url,
    receiverUrl: receiver.url,
    environment: {
      ...{ PROXY_API_KEY: `${key},another`, PROXY_KEY_IN_QUERY: 'true', UPSTREAM_API_KEY: 'k' },
      ...{ UPSTREAM_API_KEY_HEADER: 'x-goog-api-key', GATEWAY_RECORD_OTHER: 'true' },
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: traces.url, LOG_LEVEL: 'trace' },
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await traces.stop()
  await receiver.stop()
  await upstream.stop()
  await rm(directory, { recursive: true })
})

const path = '/v1beta/models/gemini-2.5-pro:streamGenerateContent'
const post = (target: string, headers: Record<string, string> = {}) =>
  fetch(gateway.url + target, { method: 'POST', body: '{"contents":[]}', headers })

/** Logs and spool. */
async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return Promise.all(files.map((file) => readFile(file, 'latin1')))
}

test('the key goes from the query before anything is forwarded, logged, spooled, recorded or traced', async () => {
  // Records stay in the spool until they have been looked at.
  receiver.refuseAll(503)
  expect((await post(`${path}?alt=sse&key=${key}&x=%20+`)).status).toBe(200)
  expect((await post(`/v1/files?key=${key}`)).status).toBe(200)
  // The provider cannot be reached: a line in the log.
  upstream.answer((socket) => socket.destroy())
  expect((await post(`${path}?key=${key}`)).status).toBe(502)
  const refused = [
    await post(`${path}?key=${key}`, { 'x-goog-api-key': 'another' }),
    await post(`${path}?key=${key}&key=${key}`),
    await post(`${path}?key=wrong`),
  ]
  expect(refused.map(({ status }) => status)).toEqual([401, 401, 401])
  expect(upstream.requests.map(({ lines }) => lines[0])).toEqual([
    `POST ${path}?alt=sse&x=%20+ HTTP/1.1`,
    'POST /v1/files HTTP/1.1',
    `POST ${path} HTTP/1.1`,
  ])
  const files = await filesOf(directory)
  // The files are those that would hold it: they hold the rest.
  expect(files.some((text) => text.includes('gemini-2.5-pro'))).toBe(true)
  expect(files.some((text) => text.includes('could not be reached'))).toBe(true)
  receiver.refuseAll(undefined)
  await until(() => receiver.taken.length >= 3)
  await until(() => traces.spans.filter(({ name }) => name === 'forward call').length >= 3)
  const metrics = await (await fetch(`http://127.0.0.1:${gateway.operationsPort}/metrics`)).text()
  const all = [
    ...files,
    ...(await filesOf(directory)),
    ...receiver.texts,
    JSON.stringify(traces.spans),
    metrics,
  ]
  expect(all.filter((text) => text.includes(key))).toEqual([])
  const sent = upstream.requests.map(({ lines, body }) => lines.join('\n') + body.toString('latin1'))
  expect(sent.filter((text) => text.includes(key))).toEqual([])
})

test.each([
  ['the setting is off', { UPSTREAM_API_KEY: 'k' }, `?key=${key}`, 401],
  ['the upstream has no credentials', { PROXY_KEY_IN_QUERY: 'true' }, `?key=${key}`, 401],
  ["the key is the provider's", { PROXY_KEY_IN_QUERY: 'true' }, '?a=1&key=theirs', 200],
])('where %s, the query is as it came', async (_name, environment, query, status) => {
  const provider = await startRawUpstream()
  const own = await startGateway({ PROXY_API_KEY: key, UPSTREAM_URL: provider.url, ...environment })
  const headers: Record<string, string> = status === 200 ? { 'x-goog-api-key': key } : {}
  const response = await fetch(own.url + path + query, { method: 'POST', body: '{}', headers })
  expect(response.status).toBe(status)
  const lines = provider.requests.map((request) => request.lines[0])
  expect(lines).toEqual(status === 200 ? [`POST ${path}${query} HTTP/1.1`] : [])
  await own.stop()
  await provider.stop()
})
