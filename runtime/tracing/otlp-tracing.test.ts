import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createLog } from '../log.ts'
import { createMetrics, type Metrics } from '../metrics.ts'
import { openTracing } from './open-tracing.ts'
import type { Tracing } from './tracing.ts'
import type { TracingConfig } from './tracing-fields.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const sampled = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: 'vendor=1' }
const unsampled = { traceparent: `00-${traceId}-b7ad6b7169203331-00` }
const another = (n: number) => ({ traceparent: `00-a${String(n).padStart(31, '0')}-b7ad6b7169203331-01` })
const flagsOf = (context: { traceparent: string }) => context.traceparent.slice(-2)

let server: Server
let bodies: Buffer[]
/** Null: requests are held until the test ends. */
let status: number | null
let held: ServerResponse[]
let metrics: Metrics

beforeEach(async () => {
  bodies = []
  status = 200
  held = []
  metrics = createMetrics()
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks))
      if (status === null) held.push(response)
      else response.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
})

afterEach(async () => {
  await new Promise((resolve) => {
    server.close(resolve)
    server.closeAllConnections()
  })
})

/** Refuses what is held and what still comes: an exporter retries what breaks off. */
function release(): void {
  status = 400
  for (const response of held.splice(0)) response.writeHead(400).end()
}

async function open(own: Partial<TracingConfig> = {}): Promise<Tracing> {
  const { port } = server.address() as AddressInfo
  const log = createLog('test', 'silent')
  const config = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, ...own }
  const tracing = await openTracing(config, { name: 'test', log, metrics })
  if (tracing === undefined) throw new Error('traces are off')
  return tracing
}

async function dropped(reason: string): Promise<number | undefined> {
  const values = await metrics.registry.getSingleMetric('sluice_traces_dropped_total')?.get()
  return values?.values.find(({ labels }) => labels['reason'] === reason)?.value
}

test('a span is a child of its only origin, and keeps its state', async () => {
  const tracing = await open()
  const span = tracing.start('one', 'consumer', [undefined, sampled, sampled])
  expect(span.context).toEqual({
    traceparent: expect.stringMatching(new RegExp(`^00-${traceId}-(?!b7ad6b7169203331)[\\da-f]{16}-01$`)),
    tracestate: 'vendor=1',
  })
  expect(span.parentFor(sampled)).toBe(span.context)
  expect(span.parentFor(undefined)).toBe(span.context)
  span.end()
  await tracing.close(5_000)
  expect(bodies).toHaveLength(1)
  expect(bodies[0]?.includes(Buffer.from(traceId, 'hex'))).toBe(true)
  expect(bodies[0]?.includes(Buffer.from('b7ad6b7169203331', 'hex'))).toBe(true)
  expect(bodies[0]?.includes('sluice-test')).toBe(true)
})

test('a span of several origins is a new trace that links to the first 128, whose work goes on in theirs', async () => {
  const tracing = await open({ OTEL_SERVICE_NAME: 'another-name' })
  const origins = Array.from({ length: 300 }, (_, n) => another(n))
  const span = tracing.start('batch', 'consumer', origins)
  for (const origin of origins) expect(span.parentFor(origin)).toBe(origin)
  expect(
    origins.some(({ traceparent }) => traceparent.slice(3, 35) === span.context.traceparent.slice(3, 35)),
  ).toBe(false)
  span.end()
  await tracing.close(5_000)
  const exported = bodies[0] ?? Buffer.alloc(0)
  const linked = origins.filter(({ traceparent }) =>
    exported.includes(Buffer.from(traceparent.slice(3, 35), 'hex')),
  )
  expect(linked).toEqual(origins.slice(0, 128))
  expect(exported.includes('another-name')).toBe(true)
})

test.each([
  ['parentbased_always_on', 1, { root: '01', sampled: '01', unsampled: '00' }],
  ['parentbased_always_off', 1, { root: '00', sampled: '01', unsampled: '00' }],
  ['parentbased_traceidratio', 0, { root: '00', sampled: '01', unsampled: '00' }],
  ['always_on', 1, { root: '01', sampled: '01', unsampled: '01' }],
  ['always_off', 1, { root: '00', sampled: '00', unsampled: '00' }],
  ['traceidratio', 1, { root: '01', sampled: '01', unsampled: '01' }],
  ['traceidratio', 0, { root: '00', sampled: '00', unsampled: '00' }],
] as const)('the sampler %s of %s', async (sampler, ratio, expected) => {
  const tracing = await open({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio })
  const flags = (origin?: { traceparent: string }) =>
    flagsOf(tracing.start('any', 'server', [origin]).context)
  expect({ root: flags(), sampled: flags(sampled), unsampled: flags(unsampled) }).toEqual(expected)
  await tracing.close(5_000)
})

test('of an error only its code or class is exported', async () => {
  const tracing = await open()
  tracing.start('one', 'server', []).end(Object.assign(new Error('quotes a secret'), { code: 'ECONNRESET' }))
  tracing.start('two', 'server', []).end(new RangeError('quotes a secret'))
  tracing.start('three', 'server', []).end('503')
  await tracing.close(5_000)
  for (const type of ['ECONNRESET', 'RangeError', '503']) expect(bodies[0]?.includes(type)).toBe(true)
  expect(bodies[0]?.includes('secret')).toBe(false)
})

test('spans that the receiver refuses are counted', async () => {
  status = 400
  const tracing = await open()
  expect(await dropped('export_failed')).toBe(0)
  for (let n = 0; n < 3; n++) tracing.start('one', 'server', []).end()
  await tracing.close(5_000)
  expect(await dropped('export_failed')).toBe(3)
})

test('spans beyond the queue are counted, and cost nothing more', async () => {
  status = null
  const tracing = await open()
  // One batch of 512 is under way and never answered.
  for (let n = 0; n < 6_000; n++) tracing.start('one', 'server', []).end()
  expect(await dropped('queue_full')).toBe(6_000 - 512 - 4_096)
  release()
  await tracing.close(5_000)
  expect(await dropped('export_failed')).toBe(512 + 4_096)
})

test('closing does not wait for a receiver that hangs', async () => {
  status = null
  const tracing = await open()
  tracing.start('one', 'server', []).end()
  // The test would end by its time limit, or when the export gives up after 8 s.
  await tracing.close(20)
  expect(await dropped('export_failed')).toBe(0)
  release()
})

test('without an address there are no traces', async () => {
  const log = createLog('test', 'silent')
  expect(await openTracing({}, { name: 'test', log, metrics })).toBeUndefined()
  expect(await dropped('export_failed')).toBeUndefined()
})
