import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { recordSchema } from '../../capture/record/record-schema.ts'
import { idTimeMs } from '../../schemas/ids.ts'
import { startRecordReceiver, type RecordReceiver } from '../../tests/support/record-receiver.ts'
import { createClient } from './create-client.ts'
import type { CallRecord, SluiceOptions } from './types.ts'

let receiver: RecordReceiver

beforeAll(async () => {
  receiver = await startRecordReceiver()
})
beforeEach(() => {
  receiver.taken.length = 0
})
afterAll(() => receiver.stop())

const client = (options: SluiceOptions = {}) =>
  createClient({ apiKey: 'svc_test', baseUrl: receiver.url, ...options })

test('without a key: one warning, nothing recorded, everything works', async () => {
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  const off = createClient({ apiKey: '' })
  const fake = { fetch: () => Promise.resolve(new Response('{}')), baseURL: 'http://x' }
  const { fetch } = fake
  expect(off.wrap(fake).fetch).toBe(fetch)
  const add = (a: number) => a + 1
  expect(off.trace(add)).toBe(add)
  off.recordToolCall({ toolName: 't' })
  expect(await off.flush()).toBe(true)
  await off.shutdown()
  expect(warned).toHaveBeenCalledTimes(1)
  expect(String(warned.mock.calls[0]?.[0])).toContain('SERVICE_API_KEY')
  warned.mockRestore()
})

test('an address that is none is a TypeError that names the option', () => {
  expect(() => createClient({ apiKey: 'k', baseUrl: 'localhost:8000' })).toThrow(/^baseUrl: expected an http/)
})

test.each(['SERVICE_BASE_URL', 'SERVICE_PROXY_URL'])(
  '%s that is no address: one warning that names it, nothing recorded',
  async (name) => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    process.env[name] = 'localhost:8000'
    try {
      const off = createClient({ apiKey: 'svc_test' })
      const add = (a: number) => a + 1
      expect(off.trace(add)).toBe(add)
      await off.shutdown()
    } finally {
      Reflect.deleteProperty(process.env, name)
    }
    expect(warned.mock.calls.map(([message]) => String(message))).toEqual([expect.stringContaining(name)])
    warned.mockRestore()
  },
)

test('a client that was left as it was can be wrapped by another', () => {
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  const fake = { fetch: () => Promise.resolve(new Response('{}')), baseURL: 'http://x' }
  const { fetch } = fake
  createClient({ apiKey: '' }).wrap(fake)
  expect(client().wrap(fake).fetch).not.toBe(fetch)
  const frozen = Object.freeze({ fetch, baseURL: 'http://x' })
  expect(client().wrap(frozen)).toBe(frozen)
  expect(warned).toHaveBeenCalledTimes(2)
  warned.mockRestore()
})

test('any number of clients listen for the end of the process once, and not after shutdown', async () => {
  const before = process.listenerCount('beforeExit')
  const many = Array.from({ length: 12 }, () => client())
  expect(process.listenerCount('beforeExit')).toBeLessThanOrEqual(before + 1)
  await Promise.all(many.map((each) => each.shutdown()))
  expect(process.listenerCount('beforeExit')).toBeLessThanOrEqual(before)
})

test('sessions hold through promises and timers, and inner ones override', async () => {
  const sluice = client({ agentName: 'outer', metadata: { a: 1 } })
  await sluice.withSession({ sessionId: 's1' }, async () => {
    await sleep(1)
    sluice.recordToolCall({ toolName: 'first' })
    sluice.withSession({ agentName: 'inner', metadata: { b: 2 } }, () => {
      setTimeout(() => {
        sluice.recordToolCall({ toolName: 'second' })
      }, 1)
    })
    await sleep(20)
  })
  sluice.recordToolCall({ toolName: 'third', sessionId: 's3' })
  await sluice.flush(30_000)
  const [first, second, third] = receiver.taken
  expect(first).toMatchObject({ session_id: 's1', agent_name: 'outer', metadata: { a: 1 } })
  expect(second).toMatchObject({ session_id: 's1', agent_name: 'inner', metadata: { a: 1, b: 2 } })
  expect(third).toMatchObject({ session_id: 's3', agent_name: 'outer' })
})

test('a tool call has the shape of one; a failed one says so', async () => {
  const sluice = client()
  sluice.recordToolCall({ toolName: 'search', arguments: { q: 'x' }, result: { hits: [] }, latencyMs: 12 })
  sluice.recordToolCall({ toolName: 'search', arguments: 'x', error: 'timed out\u0000\ud83d', result: ['a'] })
  await sluice.flush(30_000)
  expect(receiver.taken).toMatchObject([
    {
      source: 'mcp',
      latency_ms: 12,
      request_body: { type: 'mcp_tool_call', tool_name: 'search', arguments: { q: 'x' } },
      response_body: { hits: [] },
    },
    {
      error: 'timed out\ufffd\ufffd',
      request_body: { arguments: { value: 'x' } },
      response_body: { result: ['a'] },
    },
  ])
})

test('a tool call of which not all was taken says so in the body that lacks it', async () => {
  const sluice = client()
  const page = 'x'.repeat(70_000)
  sluice.recordToolCall({ toolName: 't', arguments: { page }, result: { page: 'x' } })
  sluice.recordToolCall({ toolName: 't', arguments: {}, result: { page } })
  await sluice.flush(30_000)
  const marks = receiver.taken.map(({ request_body: asked, response_body: answered }) =>
    [asked, answered].map((body) => (body as Record<string, unknown>)['truncated']),
  )
  expect(marks).toEqual([[true, undefined], [undefined, true]]) // prettier-ignore
})

test('a tool call whose numbers or model ingest would refuse is recorded without them, or cut', async () => {
  const sluice = client()
  const model = 'm'.repeat(300)
  for (const latencyMs of [-3, NaN, Infinity, Date.now(), '12' as unknown as number])
    sluice.recordToolCall({ toolName: 't', model, latencyMs })
  sluice.trace(() => 1, { model })()
  await sluice.flush(30_000)
  const read = receiver.taken.map((record) => recordSchema.parse(record))
  expect(read.map(({ model }) => model)).toEqual(read.map(() => 'm'.repeat(256)))
  expect(read.slice(0, 5).map(({ latency_ms }) => latency_ms)).toEqual([0, null, null, null, null])
  expect(read).toHaveLength(6)
  // The tables have no partition for a call of a distant day.
  for (const { id = '' } of read) expect(Date.now() - idTimeMs(id)).toBeLessThan(86_400_000)
})

test('beforeSend changes, drops, and when it throws or returns no record loses this one, no other and no call', async () => {
  const sluice = client({
    beforeSend(record) {
      const name = record.request_body['tool_name']
      if (name === 'drop') return null
      if (name === 'throw') throw new Error('mine')
      if (name === 'no body') return { id: record.id, source: 'mcp' } as CallRecord
      if (name === 'promise') return Promise.reject(new Error('nobody hears this')) as unknown as CallRecord
      return { ...record, id: 'mine', request_body: { ...record.request_body, tool_name: 'changed' } }
    },
  })
  for (const toolName of ['no body', 'promise', 'keep', 'drop', 'throw']) sluice.recordToolCall({ toolName })
  await sluice.flush(30_000)
  expect(receiver.taken.map((record) => record['request_body'])).toMatchObject([{ tool_name: 'changed' }])
  expect(receiver.taken[0]?.id).toMatch(/^req_/)
  expect(sluice.stats().dropped.before_send).toBe(3)
})

test('what beforeSend leaves as it is goes as it came, digit by digit', async () => {
  const digits = '{"model":"m","seed":12345678901234567890}'
  const answer = '{"choices":[],"n":1.0}'
  const sluice = client({ beforeSend: (record) => ({ ...record, metadata: { seen: true } }) })
  const fake = {
    fetch: () => Promise.resolve(new Response(answer, { headers: { 'content-type': 'application/json' } })),
    baseURL: 'http://x',
  }
  const call: typeof fetch = sluice.wrap(fake).fetch
  await (await call('http://x/v1/chat/completions', { method: 'POST', body: digits })).text()
  receiver.texts.length = 0
  await sluice.flush(30_000)
  expect(receiver.texts[0]).toContain(`"request_body":${digits},"response_body":${answer}`)
  expect(receiver.taken).toMatchObject([{ metadata: { seen: true } }])
})

test('beforeSend runs after the caller has its turn', async () => {
  const order: string[] = []
  const sluice = client({
    beforeSend(record) {
      order.push(`sent ${String(record.request_body['type'])}`)
      return record
    },
  })
  sluice.recordToolCall({ toolName: 't' })
  sluice.trace(() => 1)()
  order.push('caller')
  await sluice.flush(30_000)
  expect(order).toEqual(['caller', 'sent mcp_tool_call', 'sent trace'])
})

test('a call that no record can be made of is counted', async () => {
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  const sluice = client()
  const fake = { fetch: () => Promise.resolve(new Response('{}')), baseURL: 'http://x' }
  const call: typeof fetch = sluice.wrap(fake).fetch
  const unreadable = {
    method: 'POST',
    get body(): string {
      throw new Error('a malformed body')
    },
  }
  await call('http://x/v1/chat/completions', unreadable)
  expect(sluice.stats().dropped.capture_failed).toBe(1)
  expect(warned.mock.calls.map(([message]) => String(message))).toEqual([
    expect.stringMatching(/capture_failed.*malformed/),
  ])
  warned.mockRestore()
})

test('several clients record for several projects', async () => {
  const keys = ['svc_a', 'svc_b']
  receiver.keys.clear()
  for (const apiKey of keys) {
    const sluice = client({ apiKey })
    sluice.recordToolCall({ toolName: 't' })
    await sluice.shutdown(30_000)
  }
  expect([...receiver.keys]).toEqual(keys)
})
