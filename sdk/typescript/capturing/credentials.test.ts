import { once } from 'node:events'
import { createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, jest, test } from '@jest/globals'
import { CohereClientV2 } from 'cohere-ai'
import cookieParser from 'cookie-parser'
import express from 'express'
import pg from 'pg'
import * as undici from 'undici'
import { messageOf } from './message-of.ts'
import { plainValue, takeSnapshot } from './plain-value.ts'

const hidden = '[not recorded]'
const bearer = 'Bearer sk-proof'
const crlf = (...lines: string[]) => lines.map((line) => `${line}\r\n`).join('')

/** An instance of a class, as clients and servers create them. */
class Held {
  readonly held: unknown
  constructor(held: unknown) {
    this.held = held
  }
}

test('of an exchange over HTTP neither side records what proves who asked', async () => {
  const recorded: unknown[] = []
  const record = (value: unknown) => recorded.push(plainValue(value))
  const app = express()
  app.use(cookieParser('proof of signing'))
  app.use((req, res) => {
    res.cookie('session', 'proof').setHeader('x-service-key', 'proof')
    res.end('words')
    record([req, res, req.headers, req.rawHeaders, Object.entries(req.headers)])
  })
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/models?key=proof&alt=sse`
  const headers = {
    ...{ authorization: bearer, cookie: 'session=proof', 'x-api-key': 'proof' },
    ...{ 'api-key': 'proof', 'x-goog-api-key': 'proof', 'x-service-key': 'proof' },
  }
  try {
    const asked = request(url, { method: 'POST', headers, auth: 'me:proof' })
    asked.write('a question')
    record(asked)
    asked.end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    const data = await text(answer)
    // As in Axios.
    const config = { headers: { ...headers, accept: '*/*' }, url: '/models' }
    record({ data, status: 200, headers: answer.headers, config, request: asked, response: answer })
    for (const responseHeaders of ['raw', null] as const) {
      const got = await undici.request(url, { headers, responseHeaders })
      record([got, await got.body.text()])
    }
    const fetched = await undici.fetch(url, { headers })
    record([fetched, await fetched.text(), fetched.headers, [...fetched.headers], new Map(fetched.headers)])
  } finally {
    server.closeAllConnections()
    server.close()
  }
  const json = JSON.stringify(recorded)
  expect(json).not.toContain('proof')
  expect(json).toContain('alt=sse')
  expect(json).toContain('words')
})

test.each<[string, unknown, unknown]>([
  // prettier-ignore
  ['pairs', [['Authorization', bearer], ['accept', '*/*']], [['Authorization', hidden], ['accept', '*/*']]],
  ['pairs with lists', [['set-cookie', ['a=1', 'b=2']]], [['set-cookie', hidden]]],
  // prettier-ignore
  ['entries', new Map<unknown, unknown>([['x-api-key', 'k'], [1, 'x']]), { Map: [['x-api-key', hidden], [1, 'x']] }],
  ['pairs of a client', new Held([['apiKey', 'k']]), { held: [['apiKey', hidden]] }],
  // prettier-ignore
  ['settings of several providers', new Held([['openAIApiKey', 'k'], ['aws_secret_access_key', 'k'], ['monkey', 'k']]), { held: [['openAIApiKey', hidden], ['aws_secret_access_key', hidden], ['monkey', 'k']] }],
  // prettier-ignore
  ['headers of other houses', { headers: { 'private-token': 'k', 'x-functions-key': 'k', 'x-vault-token': 'k', 'x-key-id': 'a' } }, { headers: { 'private-token': hidden, 'x-functions-key': hidden, 'x-vault-token': hidden, 'x-key-id': 'a' } }],
  // prettier-ignore
  ['names in camel case', new Held({ dbPassword: 'k', jwtSecret: 'k', privateKey: 'k', idToken: 'k', tokens: 'a' }), { held: { dbPassword: hidden, jwtSecret: hidden, privateKey: hidden, idToken: hidden, tokens: 'a' } }],
  // prettier-ignore
  ['tokens by their names', new Held({ token: 'hf_0123456789abcdef', botToken: 'bot', word: { token: 'un' }, eosToken: '</s>' }), { held: { token: hidden, botToken: 'bot', word: { token: 'un' }, eosToken: '</s>' } }],
  // prettier-ignore
  ['connections', new Held({ connectionString: 'postgres://me:pw@a/b', dsn: 'Endpoint=sb://a;SharedAccessKeyName=b;SharedAccessKey=k=' }), { held: { connectionString: `postgres://${hidden}@a/b`, dsn: `Endpoint=sb://a;SharedAccessKeyName=b;SharedAccessKey=${hidden}` } }],
  // prettier-ignore
  ['a flat list', ['Host', 'a', 'Cookie', 's=1', 'cookie', 's=2'], ['Host', 'a', 'Cookie', hidden, 'cookie', hidden]],
  // prettier-ignore
  ['a flat list by its name', { rawHeaders: ['X-Service-Key', 'k'] }, { rawHeaders: ['X-Service-Key', hidden] }],
  // prettier-ignore
  ['headers by their name', { config: { headers: { Authorization: bearer, q: 'a' } } }, { config: { headers: { Authorization: hidden, q: 'a' } } }],
  // prettier-ignore
  ['headers by those beside', { 'user-agent': 'curl', authorization: bearer }, { 'user-agent': 'curl', authorization: hidden }],
  // prettier-ignore
  ['a security token', new Held({ 'x-amz-security-token': 'k' }), { held: { 'x-amz-security-token': hidden } }],
  ['options of a request', new Held({ auth: 'me:proof' }), { held: { auth: hidden } }],
  // prettier-ignore
  ['a request line', `${crlf('GET /?key=k&q=1 HTTP/1.1', 'Host: a', `Authorization: ${bearer}`)}\r\nCookie: c`, `${crlf(`GET /?key=${hidden}&q=1 HTTP/1.1`, 'Host: a', `Authorization: ${hidden}`)}\r\nCookie: c`],
  // prettier-ignore
  ['a status line', crlf('HTTP/1.1 200 OK', 'Set-Cookie: s=1'), crlf('HTTP/1.1 200 OK', `Set-Cookie: ${hidden}`)],
  // prettier-ignore
  ['header lines', { headers: crlf('a: b', 'x-api-key: k') }, { headers: crlf('a: b', `x-api-key: ${hidden}`) }],
  // prettier-ignore
  ['a URL', new URL('https://me:pw@a.b/c?api_key=k&X-Amz-Signature=s&token=t&max_tokens=9#access_token=t'), `https://${hidden}@a.b/c?api_key=${hidden}&X-Amz-Signature=${hidden}&token=${hidden}&max_tokens=9#access_token=${hidden}`],
  ['a query', new URLSearchParams('key=k&q=keys'), `key=${hidden}&q=keys`],
  // prettier-ignore
  ['addresses in headers', { headers: { location: '/cb?code=a&token=t', referer: 'https://me:pw@a/' } }, { headers: { location: `/cb?code=a&token=${hidden}`, referer: `https://${hidden}@a/` } }],
  // prettier-ignore
  ['addresses of a client', new Held({ baseUrl: 'redis://:pw@a/0', path: '/a?sig=s', says: '/a?sig=s' }), { held: { baseUrl: `redis://${hidden}@a/0`, path: `/a?sig=${hidden}`, says: '/a?sig=s' } }],
])('hides what stands beside the names of credentials, and nothing else: %s', (_name, value, expected) => {
  expect(takeSnapshot(value)).toEqual({ value: expected, isCut: false })
})

test.each<[string, (key: string) => unknown]>([
  ['Cohere', (token) => new CohereClientV2({ token })],
  ['Postgres', (password) => new pg.Pool({ connectionString: `postgres://me:${password}@a.example/b` })],
])('what a client of %s was made with is not recorded', (_name, clientOf) => {
  const key = '0123456789abcdefProof'
  expect(JSON.stringify(plainValue([clientOf(key)]))).not.toContain(key)
})

test.each<[string, unknown]>([
  ['a list of words', ['cookie', 'cake', 'authorization', 'refund']],
  ['a text and another', ['authorization', bearer]],
  ['rows of words', [['cookie', 'cake', 'tea'], ['cookie', 'cake']]], // prettier-ignore
  ['entries of what a function was given', Object.entries({ password: 'p', apiKey: 'k' })],
  // prettier-ignore
  ['words beside the name of a header', [['authorization', 'granted by Dr. Jane'], ['cookie', 'chocolate']]],
  ['what only begins like headers', { headersNote: { password: 'ignore all rules' } }],
  ['a request that somebody wrote', `Why 401?\r\n${crlf(`Authorization: ${bearer}`)}`],
  ['lines that somebody wrote', crlf('Name: Jane', 'Cookie: oat')],
  ['an address that somebody wrote', { url: 'https://me:pw@a/?token=t' }],
  ['what is dated', { date: 'today', cookie: 'oat' }],
])('what a function was given is recorded, for detectors to see it: %s', (_name, value) => {
  expect(plainValue(value)).toEqual(value)
})

test.each<[string, string]>([
  [
    'Error fetching from https://a.example/v1/m:generateContent?key=AIzaProof&alt=sse: [400] bad',
    `Error fetching from https://a.example/v1/m:generateContent?key=${hidden}&alt=sse: [400] bad`,
  ],
  ['connect to "postgres://me:proof@db/x" failed', `connect to "postgres://${hidden}@db/x" failed`],
  [
    '401 for Bearer sk-proof-1, and for basic bWU6cHJvb2Y=',
    `401 for Bearer ${hidden}, and for basic ${hidden}`,
  ],
  ['no Basic dXNlcjpwYXNz, no Bearer 12|abcdefg', `no Basic ${hidden}, no Bearer ${hidden}`],
  [
    'no redis://:pw@a:1,redis://:pw@b:2 nor "amqp://me:p\'w@c"',
    `no redis://${hidden}@a:1,redis://${hidden}@b:2 nor "amqp://${hidden}@c"`,
  ],
  ['Cannot GET /v1/m?q=a&key=AIzaProof (404)', `Cannot GET /v1/m?q=a&key=${hidden} (404)`],
  [
    'a.example/?token=t&amp;api_key=k is no URL',
    `a.example/?token=${hidden}&amp;api_key=${hidden} is no URL`,
  ],
  [
    'Headers.append: "sk-\nproof" is an invalid header value.',
    `Headers.append: "${hidden}" is an invalid header value.`,
  ],
])('nor does the text of an error: %s', (said, expected) => {
  const error = new Error(said)
  expect(plainValue(error)).toEqual({ name: 'Error', message: expected })
  expect(messageOf(error)).toBe(`Error: ${expected}`)
  expect(messageOf(new TypeError('fetch failed', { cause: error }))).toBe(
    `TypeError: fetch failed (${expected})`,
  )
})

test.each([
  'Bearer authentication failed',
  'see https://a.example/errors?code=3&max_tokens=9#keys',
  'Basic understanding of 3 things',
  'no key: https://a.example/?key=&alt=sse',
  'WWW-Authenticate: Bearer resource_metadata="https://a.example/b"',
  '401 {"message":"Bearer authentication","status":401}',
])('an error says the rest: %s', (said) => {
  expect(messageOf(new Error(said))).toBe(`Error: ${said}`)
})

test('no credential stands where an error is cut', () => {
  for (let before = 1_950; before < 2_010; before++)
    expect(messageOf(new Error(`${'x'.repeat(before)} https://a/?key=proof-of-it`))).not.toContain('=p')
  // Nothing of the first pattern's match remains.
  for (let length = 3_900; length < 4_000; length++)
    expect(messageOf(new Error(`a://b/?key=${'k'.repeat(length)} c://me:proof@d/`))).not.toContain('me:')
})

test('of the text of an error no more is looked through than is recorded, and a little', () => {
  const replace = jest.spyOn(String.prototype, 'replace')
  const longest = () => Math.max(...replace.mock.contexts.map((text) => String(text).length))
  const length = 2 ** 20
  try {
    expect(takeSnapshot(new Error('x-'.repeat(length / 2)))).toMatchObject({
      value: { message: expect.stringContaining(`… (${length - 65_536} more characters)`) },
      isCut: true,
    })
    messageOf(new Error('x-'.repeat(length / 2)))
    expect(longest()).toBeLessThanOrEqual(2 * 65_536)
  } finally {
    replace.mockRestore()
  }
})
