import { beforeEach, expect, jest, test } from '@jest/globals'
import { Agent } from 'undici'
import { parseConfig } from '#runtime/config.ts'
import { createLog } from '#runtime/log.ts'
import { gatewayConfigSchema } from '../config.ts'
import { createCredentials } from './create-credentials.ts'
import type { UpstreamSecret } from './credentials-schema.ts'
import { TokenUnavailable } from './renewed.ts'
import { fixedCredentials, tokenCredentials, type AccessToken } from './upstream-credentials.ts'

let nowMs: number
let fetched: number
let answer: () => Promise<AccessToken>
const log = createLog('gateway-test', 'silent')
const lifetimeMs = 100_000

beforeEach(() => {
  nowMs = 1_000_000
  fetched = 0
  answer = () => Promise.resolve({ value: `t${fetched}`, lifetimeMs })
})

const request = { method: 'POST', host: 'h', target: '/', headers: [], body: null }
const refusal = { status: 401, headers: [] }

const credentials = () => {
  const own = tokenCredentials({
    log,
    now: () => nowMs,
    replaces: ['authorization', 'api-key'],
    fetchToken: () => {
      fetched++
      return answer()
    },
  })
  return { ...own, token: async () => own.present(request) }
}
const presented = (token: string) => ({ headers: ['Authorization', `Bearer ${token}`] })

test('many calls at once fetch one token', async () => {
  const own = credentials()
  const all = await Promise.all(Array.from({ length: 50 }, () => own.token()))
  expect(new Set(all.map(({ headers }) => headers[1]))).toEqual(new Set(['Bearer t1']))
  expect(fetched).toBe(1)
})

test('a token is replaced ahead of its end, and calls do not wait for it', async () => {
  const own = credentials()
  await own.token()
  nowMs += lifetimeMs * 0.85
  expect(await own.token()).toMatchObject(presented('t1'))
  await new Promise((resolve) => setImmediate(resolve))
  expect(await own.token()).toMatchObject(presented('t2'))
  expect(fetched).toBe(2)
})

test('one that cannot be replaced is used to its end, and not a moment longer', async () => {
  const own = credentials()
  await own.token()
  answer = () => Promise.reject(new Error('away'))
  nowMs += lifetimeMs * 0.85
  expect(await own.token()).toMatchObject(presented('t1'))
  await new Promise((resolve) => setImmediate(resolve))
  // Meanwhile calls do not ask the identity provider.
  await own.token()
  nowMs += lifetimeMs * 0.15
  await expect(own.token()).rejects.toThrow(TokenUnavailable)
  // No immediate retry.
  await expect(own.token()).rejects.toThrow('away')
  expect(fetched).toBe(3)
})

test('a token that no header may hold is none', async () => {
  answer = () => Promise.resolve({ value: 't\r\nx-other: 1', lifetimeMs })
  await expect(credentials().token()).rejects.toThrow(TokenUnavailable)
})

test("the gateway's credentials replace a header of the same name, and a static api-key beside a token", () => {
  expect(credentials().replaces).toEqual(new Set(['authorization', 'api-key']))
  const { replaces } = fixedCredentials({ name: 'X-Goog-Api-Key', value: 'k' })
  expect(replaces).toEqual(new Set(['x-goog-api-key']))
})

test('a refused token is replaced once however many calls were refused; not again and again', async () => {
  const own = credentials()
  const { credential: first } = await own.token()
  const refused = (credential: object) => own.refused(credential, refusal)
  expect(own.refused(first, { status: 403, headers: [] })).toBe(false)
  expect([refused(first), refused(first)]).toEqual([true, true])
  const { credential: second } = await own.token()
  expect(fetched).toBe(2)
  expect(refused(first)).toBe(true)
  expect(refused(second)).toBe(false)
  nowMs += 10_000
  expect(refused(second)).toBe(true)
})

test.each([
  ['https://models.example.com', undefined, ['models.example.com']],
  ['http://[::1]:8081', undefined, []],
  ['http://localhost:8081', undefined, []],
  ['https://models.example.com', { kind: 'key', key: 'k', header: undefined }, []],
])('a provider elsewhere that would be sent PROXY_API_KEY is warned of: %s %j', (url, secret, expected) => {
  const warn = jest.spyOn(log, 'warn').mockReset()
  const agent = new Agent()
  createCredentials(
    { url, credentials: secret as UpstreamSecret | undefined },
    { outside: agent, direct: agent, log },
  )
  expect(warn.mock.calls.map(([fields]) => (fields as { upstream: string }).upstream)).toEqual(expected)
})

test.each([
  ['a query, which would stand before the path of each call', 'https://models.example.com/?api-version=1'],
  ['a password, which no call would carry', 'https://user:secret@models.example.com/v1'],
])("a provider's address that holds %s is refused", (_what, url) => {
  const given = { UPSTREAM_URL: url, API_BACKEND_URL: 'http://api:8000' }
  const parsed = parseConfig(gatewayConfigSchema, { ...given, PROXY_API_KEY: 'p', SERVICE_API_KEY: 's' })
  expect(parsed).toMatchObject({ ok: false, problems: [expect.stringMatching(/^UPSTREAM_URL: must not/)] })
})
