import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createLog } from '../log.ts'
import { createTokenProvider } from './oauth-token.ts'

let server: Server
let url: string
let answer: { status: number; body: string; location?: string }
let asked: string[]
let nowMs: number

beforeEach(async () => {
  asked = []
  nowMs = 1_000_000
  answer = { status: 200, body: tokenOf('one') }
  server = createServer((request: IncomingMessage, response) => {
    void text(request).then((body) => {
      asked.push(body)
      response.writeHead(answer.status, answer.location === undefined ? {} : { location: answer.location })
      response.end(answer.body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

const tokenOf = (value: string) =>
  JSON.stringify({ access_token: value, token_type: 'Bearer', expires_in: 100 })

function provider(more: object = {}) {
  const source = { url, clientId: 'sluice', clientSecret: 's&cret', ...more }
  return createTokenProvider(source, { clock: { now: () => nowMs }, log: createLog('test', 'silent') })
}

test('connections that open together share one request, and its token until a fifth of its life is left', async () => {
  const token = provider({ scope: 'kafka' })
  expect(await Promise.all([token(), token(), token()])).toEqual(Array(3).fill({ value: 'one' }))
  answer.body = tokenOf('two')
  nowMs += 79_000
  expect(await token()).toEqual({ value: 'one' })
  nowMs += 2_000
  expect(await token()).toEqual({ value: 'two' })
  const form = 'grant_type=client_credentials&client_id=sluice&client_secret=s%26cret&scope=kafka'
  expect(asked).toEqual([form, form])
})

test('extensions go with each token', async () => {
  const extensions = { logicalCluster: 'lkc-1', identityPoolId: 'pool-1' }
  expect(await provider({ extensions })()).toEqual({ value: 'one', extensions })
})

test('while the provider is away, the last token is given until it ends', async () => {
  const token = provider()
  await token()
  answer = { status: 503, body: '' }
  nowMs += 90_000
  expect(await token()).toEqual({ value: 'one' })
  nowMs += 10_000
  await expect(token()).rejects.toThrow('the identity provider answered 503')
  answer = { status: 200, body: tokenOf('two') }
  expect(await token()).toEqual({ value: 'two' })
})

test.each([
  ['a refusal', { status: 401, body: '{"error":"invalid_client"}' }, 'answered 401'],
  ['no JSON', { status: 200, body: 'secret' }, 'contains no bearer token'],
  [
    'another kind of token',
    { status: 200, body: '{"access_token":"a","token_type":"mac"}' },
    'contains no bearer token',
  ],
  ['a token with a line break', { status: 200, body: tokenOf('a\nb') }, 'contains no bearer token'],
])('%s gives no token', async (_name, given, message) => {
  answer = given
  await expect(provider()()).rejects.toThrow(message)
})

test('the secret follows no redirect', async () => {
  answer = { status: 307, body: '', location: url }
  await expect(provider()()).rejects.toThrow()
  expect(asked).toHaveLength(1)
})
