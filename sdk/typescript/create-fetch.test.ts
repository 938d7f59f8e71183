import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { setImmediate } from 'node:timers/promises'
import OpenAI from 'openai'
import { createClient } from './create-client.ts'
import { said } from './testing/answers.ts'
import { startProviderFixture, user, type ProviderFixture } from './testing/provider-fixture.ts'

/** What the recording fetch records and what not; frameworks.test.ts has it in real clients. */
let fixture: ProviderFixture
let recording: typeof fetch

beforeAll(async () => {
  fixture = await startProviderFixture()
  recording = fixture.sluice.createFetch()
})
beforeEach(() => fixture.clear())
afterAll(() => fixture.stop())

const url = () => fixture.provider.url
const asked = { model: 'm', messages: user }
const created = (inner: typeof fetch, base = `${url()}/v1`) =>
  new OpenAI({ apiKey: 'sk-own', baseURL: base, fetch: inner, maxRetries: 0 })

describe('a call is recorded once', () => {
  test.each<[string, () => OpenAI]>([
    ['by a wrapped client with this fetch', () => fixture.sluice.wrap(created(recording))],
    [
      'by a wrapped client whose own fetch calls it at another address',
      () =>
        fixture.sluice.wrap(created((_input, init) => recording(`${url()}/other/v1/chat/completions`, init))),
    ],
    ['by this fetch over another', () => created(fixture.sluice.createFetch(recording))],
    ["over a wrapped client's fetch", () => created(fixture.sluice.createFetch(wrappedFetch()))],
  ])('%s', async (_name, client) => {
    const answer = await client().chat.completions.create(asked)
    expect(answer.choices[0]?.message.content).toBe(said)
    expect(await fixture.recorded()).toMatchObject([{ request_body: asked }])
  })

  test("by this fetch over another project's", async () => {
    const other = fixture.another({})
    await created(fixture.sluice.createFetch(other.createFetch())).chat.completions.create(asked)
    expect([await fixture.recorded(other), other.stats().sent]).toEqual([[], 0])
    expect(await fixture.recorded()).toHaveLength(1)
  })

  test('by a wrapped client, and by this fetch, where this fetch is the global one too', async () => {
    const original = globalThis.fetch
    globalThis.fetch = fixture.sluice.createFetch(original)
    try {
      await fixture.sluice.wrap(fixture.openAi()).chat.completions.create(asked)
      await created(recording).chat.completions.create(asked)
    } finally {
      globalThis.fetch = original
    }
    expect(await fixture.recorded()).toHaveLength(2)
  })

  test('as a Request', async () => {
    const body = JSON.stringify(asked)
    const twice = fixture.sluice.createFetch(recording)
    await (await twice(new Request(`${url()}/v1/chat/completions`, { method: 'POST', body }))).text()
    expect(await fixture.recorded()).toMatchObject([{ request_body: asked }])
  })

  test('while a fetch that calls a model of its own first is two calls', async () => {
    const guard = fixture.sluice.wrap(fixture.openAi())
    const guarded = created(async (input, init) => {
      await guard.chat.completions.create({ model: 'guard', messages: user })
      return recording(input, init)
    })
    await fixture.sluice.wrap(guarded).chat.completions.create(asked)
    const models = (await fixture.recorded()).map(({ request_body: body }) => (body as typeof asked).model)
    expect(models.sort()).toEqual(['guard', 'm'])
  })

  test('while the same call by what a fetch started earlier is another call', async () => {
    let later = Promise.resolve<unknown>(undefined)
    const starting: typeof fetch = (input, init) => {
      const sent = fetch(input, init)
      // In the context of the first call, after it is over.
      later = sent.then(() => setImmediate()).then(async () => (await recording(input, init)).text())
      return sent
    }
    await created(fixture.sluice.createFetch(starting)).chat.completions.create(asked)
    await later
    expect(await fixture.recorded()).toHaveLength(2)
  })

  function wrappedFetch(): typeof fetch {
    const inner: typeof fetch = (input, init) => fetch(input, init)
    return fixture.sluice.wrap({ baseURL: url(), fetch: inner }).fetch
  }
})

describe('what is no model call passes, unrecorded', () => {
  test.each<[string, string, RequestInit]>([
    ['a GET', '/v1/models', {}],
    ['an upload', '/v1/files', { method: 'POST', body: new FormData() }],
    ["an application's own chat, at Ollama's path", '/api/chat', { method: 'POST', body: '{"messages":[]}' }],
    ['bytes that are no text', '/v1/responses', { method: 'POST', body: new Uint8Array([0x1f, 0x8b]) }],
  ])('%s', async (_name, path, init) => {
    const given = new Response('as it came')
    const sent: unknown[] = []
    const inner: typeof fetch = (...passed) => {
      sent.push(passed)
      return Promise.resolve(given)
    }
    const response = await fixture.sluice.createFetch(inner)(url() + path, init)
    expect(await response.text()).toBe('as it came')
    expect(sent).toEqual([[url() + path, init]])
    expect(await fixture.recorded()).toEqual([])
  })

  test('what the platform refuses is refused alike', async () => {
    await expect(recording('no address', { method: 'POST', body: '{}' })).rejects.toThrow(TypeError)
    const closed = 'http://127.0.0.1:9/v1/chat/completions'
    await expect(recording(closed, { method: 'POST', body: '{"model":"m"}' })).rejects.toThrow(TypeError)
    expect(await fixture.recorded()).toMatchObject([{ aborted_by: 'upstream', error: expect.any(String) }])
  })
})

test('without a key it is the given fetch itself', () => {
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  expect(createClient({ apiKey: '' }).createFetch(recording)).toBe(recording)
  expect(warned.mock.calls.map(([message]) => String(message))).toEqual([
    expect.stringContaining('nothing is recorded'),
  ])
  warned.mockRestore()
})

test("calls to the gateway's address have its key and labels and are recorded there; others here", async () => {
  const options = { proxyUrl: `${url()}/gateway/`, proxyApiKey: 'proxy', agentName: 'Ägent' }
  const sluice = fixture.another(options)
  const inner: typeof fetch = (input, init) => {
    const headers = { ...Object.fromEntries(new Headers(init?.headers)), 'x-inner': 'yes' }
    return fetch(input, { ...init, headers })
  }
  for (const base of [`${url()}/gateway/v1`, `${url()}/gateways/v1`]) {
    const answer = await created(sluice.createFetch(inner), base).chat.completions.create(asked)
    expect(answer.choices[0]?.message.content).toBe(said)
  }
  const [proxied, direct] = fixture.provider.seen.map(({ headers }) => headers)
  expect(proxied).toMatchObject({ authorization: 'Bearer proxy', 'x-service-agent-name': expect.any(String) })
  expect(proxied).toMatchObject({ 'x-inner': 'yes', 'x-service-request-id': expect.stringMatching(/^req_/) })
  expect(direct).toMatchObject({ authorization: 'Bearer sk-own', 'x-inner': 'yes' })
  expect(direct).not.toHaveProperty('x-service-request-id')
  expect(await fixture.recorded(sluice)).toMatchObject([{ agent_name: 'Ägent', status_code: 200 }])
})
