import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { generateText } from 'ai'
import { AwsV4Signer } from 'aws4fetch'
import { chatBody, chatPath, idOf, useGateway } from '#tests/support/gateway-fixture.ts'
import { startLocalServer, type LocalServer } from '#tests/support/local-server.ts'
import { sized, type RawAnswer, type RawRequest } from '#tests/support/raw-upstream.ts'
import { proxyKey, type RunningGateway } from '#tests/support/start-gateway.ts'

const world = useGateway()
const model = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
const region = 'eu-west-1'
const secrets: Readonly<Record<string, string>> = { AKIA1: 'secret/1', ASIA1: 'role/1', ASIA2: 'role/2' }
let directory: string
let gateway: RunningGateway | undefined

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-signed-'))
})
afterAll(() => rm(directory, { recursive: true }))
afterEach(() => gateway?.stop())

async function start(credentials: object, environment: Record<string, string> = {}) {
  const file = join(directory, 'upstreams.json')
  const upstreams = [{ name: 'one', url: world.upstream.url, credentials }]
  await writeFile(file, JSON.stringify({ upstreams }))
  gateway = await world.startAnother({ UPSTREAMS_FILE: file, ...environment })
  return gateway
}

const keys = { region, access_key_id: { env: 'ID' }, secret_access_key: { env: 'SECRET' } }
const startWithKeys = (more: Record<string, string> = {}) =>
  start({ aws: keys }, { ID: 'AKIA1', SECRET: 'secret/1', ...more })

function headersOf({ lines }: RawRequest): [string, string][] {
  return lines.slice(1).map((line) => {
    const at = line.indexOf(':')
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
  })
}

/** The signature that AWS would expect of the bytes that came, by another implementation. */
async function expectedSignature(request: RawRequest): Promise<string> {
  const headers = Object.fromEntries(headersOf(request))
  const authorization = headers['authorization'] ?? ''
  const [, id = ''] = /Credential=(\w+)\//.exec(authorization) ?? []
  const [, names = ''] = /SignedHeaders=([^,]+)/.exec(authorization) ?? []
  const token = headers['x-amz-security-token']
  const [method = '', target = ''] = request.lines[0]?.split(' ') ?? []
  const signer = new AwsV4Signer({
    ...{ accessKeyId: id, secretAccessKey: secrets[id] ?? '', region, service: 'bedrock' },
    ...(token === undefined ? {} : { sessionToken: token }),
    ...{ method, url: `http://${headers['host']}${target}`, body: Uint8Array.from(request.body) },
    ...{ datetime: headers['x-amz-date'] ?? '', allHeaders: true },
    headers: names
      .split(';')
      .filter((name) => name !== 'host')
      .map((name): [string, string] => [name, headers[name] ?? '']),
  })
  return signer.authHeader()
}

const valueOf = (request: RawRequest | undefined, name: string) =>
  headersOf(request ?? { lines: [], body: Buffer.alloc(0) }).flatMap(([own, value]) =>
    own === name ? [value] : [],
  )

const converseAnswer = JSON.stringify({
  output: { message: { role: 'assistant', content: [{ text: 'hello' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 3, outputTokens: 1, totalTokens: 4 },
  metrics: { latencyMs: 1 },
})
const json = ['Content-Type: application/json']

test.each([
  ['its key is the proxy key', { apiKey: proxyKey }, {}],
  [
    'it signs with keys of its own',
    { accessKeyId: 'AKIAOTHER', secretAccessKey: 'unknown', sessionToken: 'theirs' },
    { 'X-Service-Key': proxyKey },
  ],
])("AI SDK's Bedrock client, where %s: the gateway re-signs its requests", async (_name, own, headers) => {
  const { url } = await startWithKeys()
  world.upstream.answer(sized('200 OK', json, converseAnswer))
  const bedrock = createAmazonBedrock({ region, baseURL: url, headers, ...own })
  const { text } = await generateText({ model: bedrock(model), prompt: 'hi', maxRetries: 0 })
  expect(text).toBe('hello')
  const [request] = world.upstream.requests
  if (request === undefined) throw new Error('nothing came')
  expect(request.lines[0]).toBe(`POST /model/${encodeURIComponent(model)}/converse HTTP/1.1`)
  const authorization = valueOf(request, 'authorization')
  expect(authorization).toEqual([await expectedSignature(request)])
  expect(authorization[0]).toContain('Credential=AKIA1/')
  expect([...valueOf(request, 'x-amz-security-token'), ...valueOf(request, 'x-service-key')]).toEqual([])
  expect(valueOf(request, 'x-amz-date')).toHaveLength(1)
  expect(world.receiver.taken.at(-1)).toMatchObject({ model, status_code: 200 })
})

const upload = (bytes: number, through: RunningGateway) =>
  world.post(
    '/model/m/invoke',
    { body: new Blob([Buffer.alloc(bytes, 'x')]).stream(), duplex: 'half' },
    through,
  )

test('a body is signed whole, of known length or not, and goes on unchanged', async () => {
  const running = await startWithKeys()
  const long = { body: Buffer.alloc(3_000_000, 'y') }
  expect((await world.post('/model/m/invoke', long, running)).status).toBe(200)
  expect((await upload(3_000_001, running)).status).toBe(200)
  const [known, streamed] = world.upstream.requests
  expect([known?.body.length, streamed?.body.length]).toEqual([3_000_000, 3_000_001])
  for (const request of world.upstream.requests)
    expect(valueOf(request, 'authorization')).toEqual([await expectedSignature(request)])
  expect(valueOf(streamed, 'content-length')).toEqual(['3000001'])
})

test('a body that is too long to be signed, or for the memory, is refused', async () => {
  const running = await startWithKeys({ CAPTURE_TOTAL_MAX_BYTES: '2097152' })
  const refusals = [await upload(3_000_000, running)]
  const tooLong = { body: Buffer.alloc(33 * 1024 * 1024) }
  refusals.push(await world.post('/model/m/invoke', tooLong, running))
  const seen = await Promise.all(refusals.map(async (one) => [one.status, await one.json()]))
  expect(seen).toMatchObject([
    [503, { error: { code: 'no_memory' } }],
    [413, { error: { code: 'request_too_large' } }],
  ])
  expect(world.upstream.requests).toHaveLength(0)
  // What was acquired has been released.
  expect((await upload(1_000_000, running)).status).toBe(200)
  expect((await upload(1_000_000, running)).status).toBe(200)
})

/** STS, which gives ASIA1, then ASIA2. */
async function startSts(): Promise<LocalServer & { given: () => number }> {
  let given = 0
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const id = `ASIA${++given}`
      const expiration = new Date(Date.now() + 3_600_000).toISOString()
      const fields = {
        AccessKeyId: id,
        SecretAccessKey: secrets[id],
        SessionToken: `t${given}`,
        Expiration: expiration,
      }
      response.end(
        Object.entries(fields)
          .map(([name, value]) => `<${name}>${value}</${name}>`)
          .join(''),
      )
    })
  })
  return { ...(await startLocalServer(server)), given: () => given }
}

test("a role's keys are fetched once, and again when the provider calls them expired", async () => {
  const sts = await startSts()
  const tokenFile = join(directory, 'token')
  await writeFile(tokenFile, 'web-token')
  const running = await start(
    { aws: { region, identity: 'workload' } },
    {
      ...{ AWS_ROLE_ARN: 'arn:aws:iam::1:role/r', AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile },
      AWS_ENDPOINT_URL_STS: sts.url,
    },
  )
  const call = async () => {
    const response = await world.post('/model/m/invoke', {}, running)
    return [response.status, await response.text(), idOf(response)]
  }
  expect((await Promise.all([call(), call(), call()])).map(([status]) => status)).toEqual([200, 200, 200])
  expect(sts.given()).toBe(1)
  const expired = ['x-amzn-ErrorType: ExpiredTokenException:http://internal.amazon.com/']
  const answer: RawAnswer = (socket, request) =>
    valueOf(request, 'x-amz-security-token')[0] === 't1'
      ? sized('403 Forbidden', expired, '{"message":"expired"}')(socket, request)
      : sized('200 OK', json, '{"ok":2}')(socket, request)
  world.upstream.answer(answer)
  expect(await call()).toMatchObject([200, '{"ok":2}', expect.any(String)])
  expect(sts.given()).toBe(2)
  for (const request of world.upstream.requests)
    expect(valueOf(request, 'authorization')).toEqual([await expectedSignature(request)])
  // A refusal for another reason is the application's to see.
  world.upstream.answer(sized('403 Forbidden', ['x-amzn-ErrorType: AccessDeniedException'], '{}'))
  expect((await call())[0]).toBe(403)
  expect(sts.given()).toBe(2)
  await sts.stop()
})

test("Google's metadata server gives the token, in place of the application's; others' headers stay", async () => {
  const metadata = await startLocalServer(
    createServer((_request, response) =>
      response.end('{"access_token":"ya29.t","token_type":"Bearer","expires_in":3599}'),
    ),
  )
  const host = new URL(metadata.url).host
  const running = await start({ google: { identity: 'workload' } }, { GCE_METADATA_HOST: host })
  const headers = { 'x-goog-user-project': 'p', 'x-goog-api-key': 'theirs' }
  expect((await world.post(chatPath, { headers }, running)).status).toBe(200)
  const [request] = world.upstream.requests
  expect(valueOf(request, 'authorization')).toEqual(['Bearer ya29.t'])
  expect([valueOf(request, 'x-goog-user-project'), valueOf(request, 'x-goog-api-key')]).toEqual([
    ['p'],
    ['theirs'],
  ])
  expect(request?.body.toString()).toBe(chatBody)
  await metadata.stop()
})
