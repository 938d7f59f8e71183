import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals'
import OpenAI, { AzureOpenAI } from 'openai'
import { speaksChatCompletions } from './wrapping/gateway-fetch.ts'
import { said } from './testing/answers.ts'
import { startProviderFixture, user, type ProviderFixture } from './testing/provider-fixture.ts'

let fixture: ProviderFixture

beforeAll(async () => {
  fixture = await startProviderFixture()
})
beforeEach(() => {
  fixture.clear()
})
afterAll(() => fixture.stop())

const throughGateway = () =>
  fixture.another({ proxyUrl: fixture.provider.url, proxyApiKey: 'proxy', agentName: 'Ägent' })

test('OpenAI: address, key, labels, an id for each attempt; nothing is posted besides', async () => {
  const gateway = throughGateway()
  fixture.provider.misbehave({ status: 500 })
  const client = gateway.wrap(new OpenAI({ apiKey: 'sk-very-secret' }))
  const answer = await gateway.withSession(
    { sessionId: 's1', metadata: { team: 'x' }, context: [1, '/messages/2'] },
    () => client.chat.completions.create({ model: 'm', messages: user }),
  )
  expect(answer.choices[0]?.message.content).toBe(said)
  expect(fixture.provider.seen.map(({ path }) => path)).toEqual([
    '/v1/chat/completions',
    '/v1/chat/completions',
  ])
  const [first, second] = fixture.provider.seen.map(({ headers }) => headers)
  expect(first).toMatchObject({
    authorization: 'Bearer proxy',
    'x-service-session-id': 's1',
    'x-service-metadata': '{"team":"x"}',
    'x-service-context': '1,/messages/2',
    'x-service-agent-name': Buffer.from('Ägent').toString('latin1'),
  })
  expect(first?.['x-service-request-id']).toMatch(/^req_/)
  expect(second?.['x-service-request-id']).not.toBe(first?.['x-service-request-id'])
  expect(await fixture.recorded(gateway)).toEqual([])
})

test('what headers cannot carry never fails the call: it is made plain, or left out with a warning', async () => {
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  const gateway = throughGateway()
  const client = gateway.wrap(new OpenAI({ apiKey: 'k' }))
  const self: unknown[] = []
  self.push(self)
  const big = { text: 'x'.repeat(20_000) }
  for (const metadata of [{ huge: 2n ** 64n, self }, big])
    await gateway.withSession({ sessionId: 'a\u0001b\u007f\tc', metadata }, () =>
      client.chat.completions.create({ model: 'm', messages: user }),
    )
  const [plain, without] = fixture.provider.seen.map(({ headers }) => headers)
  expect(plain?.['x-service-session-id']).toBe('a b  c')
  expect(plain?.['x-service-metadata']).toBe('{"huge":"18446744073709551616","self":["[circular]"]}')
  expect(without).toMatchObject({ 'x-service-session-id': 'a b  c' })
  expect(without).not.toHaveProperty('x-service-metadata')
  expect(warned.mock.calls.map(([message]) => String(message))).toEqual([
    expect.stringMatching(/^metadata .* 20011 bytes/),
  ])
  warned.mockRestore()
})

test('a client with messages has a format of its own, whatever else it has', () => {
  const both = { baseURL: 'http://x', completions: {} }
  expect(speaksChatCompletions(both)).toBe(true)
  expect(speaksChatCompletions({ ...both, messages: {} })).toBe(false)
})

test('a client that cannot be sent through the gateway keeps its address', () => {
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  for (const unknown of [
    { baseURL: 'http://x', chat: {} },
    { baseURL: '/relative', chat: {}, fetch },
  ]) {
    const before = { ...unknown }
    expect(throughGateway().wrap(unknown)).toEqual(before)
  }
  expect(warned).toHaveBeenCalledTimes(2)
  warned.mockRestore()
})

test('Azure: the path of the deployment and its version, without the key of the resource', async () => {
  const azure = throughGateway().wrap(
    new AzureOpenAI({
      apiKey: 'azure-secret',
      endpoint: 'https://x.openai.azure.com',
      apiVersion: '2024-10-21',
    }),
  )
  await azure.chat.completions.create({ model: 'dep-1', messages: user })
  expect(fixture.provider.seen[0]?.path).toBe(
    '/openai/deployments/dep-1/chat/completions?api-version=2024-10-21',
  )
  expect(JSON.stringify(fixture.provider.seen[0]?.headers)).not.toContain('azure-secret')
})

test('Anthropic is recorded directly', async () => {
  const gateway = throughGateway()
  await gateway.wrap(fixture.anthropic()).messages.create({ model: 'm', max_tokens: 9, messages: user })
  expect(await fixture.recorded(gateway)).toHaveLength(1)
})
