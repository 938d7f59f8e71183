import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createPlainServer } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { startConnectProxy, type ConnectProxy } from '#tests/support/connect-proxy.ts'
import { authorization, chatPath, idOf, useGateway } from '#tests/support/gateway-fixture.ts'
import { startLocalServer, type LocalServer } from '#tests/support/local-server.ts'
import { makeCertificate } from '#tests/support/make-certificate.ts'
import { sized } from '#tests/support/raw-upstream.ts'
import type { RunningGateway } from '#tests/support/start-gateway.ts'
import { startGatewayProcess, type GatewayProcess } from '#tests/support/start-gateway-process.ts'
import { until } from '#tests/support/until.ts'

const world = useGateway()
const opened: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.stop()
})

const portOf = (url: string) => Number(new URL(url).port)

async function startProxy(options: Partial<Parameters<typeof startConnectProxy>[0]> = {}) {
  const leads = new Map([['models.test:8080', portOf(world.upstream.url)]])
  const proxy = await startConnectProxy({ leads, ...options })
  opened.push(proxy)
  return proxy
}

async function start(proxyUrl: string, more: Record<string, string> = {}): Promise<RunningGateway> {
  const upstream = { UPSTREAM_URL: 'http://models.test:8080', UPSTREAM_API_KEY: 'k' }
  const gateway = await world.startAnother({ ...upstream, UPSTREAM_PROXY_URL: proxyUrl, ...more })
  opened.push(gateway)
  return gateway
}

/** A provider behind TLS, reached through a proxy behind TLS that asks for a password. */
describe('TLS inside of TLS', () => {
  let provider: Server
  let local: LocalServer
  let proxy: ConnectProxy
  let gateway: GatewayProcess
  let directory: string
  const names = new Set<string | false | null>()

  beforeAll(async () => {
    const certificate = makeCertificate('models.test')
    provider = createServer(certificate, (request, response) => {
      names.add((request.socket as TLSSocket).servername)
      response.writeHead(200, { 'content-type': 'application/json', 'x-host': request.headers.host })
      request.pipe(response)
    })
    local = await startLocalServer(provider)
    const leads = new Map([['models.test:8443', portOf(local.url)]])
    proxy = await startConnectProxy({ leads, certificate, credentials: 'me:p@ss' })
    directory = await mkdtemp(join(tmpdir(), 'sluice-egress-'))
    await writeFile(join(directory, 'authority.pem'), certificate.cert)
    gateway = await startGatewayProcess({
      directory,
      providerUrl: 'https://models.test:8443',
      receiverUrl: world.receiver.url,
      environment: {
        NODE_EXTRA_CA_CERTS: join(directory, 'authority.pem'),
        UPSTREAM_PROXY_URL: proxy.url.replace('//', '//me:p%40ss@'),
      },
    })
  })
  afterAll(async () => {
    await gateway.stop()
    await proxy.stop()
    await local.stop()
    await rm(directory, { recursive: true })
  })

  const post = (body: RequestInit['body']) =>
    fetch(gateway.url + chatPath, {
      method: 'POST',
      headers: { authorization },
      body,
      duplex: 'half',
    } as RequestInit)

  test('bodies of every length pass both ways, streamed ones too, and are recorded', async () => {
    for (const length of [2, 40_000, 1_000_000]) {
      const body = JSON.stringify({ model: 'm', text: 'planted'.repeat(length / 2) })
      const answers = [await post(body), await post(new Blob([body]).stream())]
      for (const answer of answers) {
        expect([answer.status, answer.headers.get('x-host')]).toEqual([200, 'models.test:8443'])
        expect(await answer.text()).toBe(body)
        await until(() => world.receiver.taken.some(({ id }) => id === idOf(answer)))
      }
    }
    expect([...names]).toEqual(['models.test'])
    expect(proxy.sent()).not.toContain('planted')
    // The receiver of records was reached directly, and connections serve many calls.
    expect(new Set(proxy.targets)).toEqual(new Set(['models.test:8443']))
    expect(proxy.targets.length).toBeLessThan(4)
  })

  test('an answer arrives as it is sent', async () => {
    let end = () => {}
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue('{"a":')
        end = () => {
          controller.enqueue('1}')
          controller.close()
        }
      },
    }).pipeThrough(new TextEncoderStream())
    const reader = (await post(body)).body?.pipeThrough(new TextDecoderStream()).getReader()
    expect(await reader?.read()).toMatchObject({ value: '{"a":' })
    end()
    expect(await reader?.read()).toMatchObject({ value: '1}' })
  })
})

test('plain HTTP goes through CONNECT too, byte for byte; tokens come through the proxy, records go directly', async () => {
  const identity = await startLocalServer(
    createPlainServer((_, response) => response.end('{"access_token":"t","token_type":"Bearer"}')),
  )
  opened.push(identity)
  const leads = new Map([
    ['models.test:8080', portOf(world.upstream.url)],
    ['identity.test:80', portOf(identity.url)],
  ])
  const proxy = await startProxy({ leads })
  const gateway = await start(proxy.url, {
    ...{ UPSTREAM_AUTH: 'client_credentials', UPSTREAM_TOKEN_URL: 'http://identity.test/token' },
    ...{ UPSTREAM_CLIENT_ID: 'me', UPSTREAM_CLIENT_SECRET: 's' },
  })
  world.upstream.answer(sized('200 OK', ['X-Odd:  a  b'], '{"ok":1}'))
  const answer = await world.post(`${chatPath}?a=%2f`, {}, gateway)
  expect([answer.status, answer.headers.get('x-odd'), await answer.text()]).toEqual([200, 'a  b', '{"ok":1}'])
  const [request] = world.upstream.requests
  expect(request?.lines.slice(0, 2)).toEqual([`POST ${chatPath}?a=%2f HTTP/1.1`, 'host: models.test:8080'])
  expect(request?.lines).toContain('Authorization: Bearer t')
  expect(request?.lines.some((line) => /^proxy-/i.test(line))).toBe(false)
  expect(await world.recordOf(idOf(answer))).toMatchObject({ status_code: 200 })
  expect(proxy.targets).toEqual(['identity.test:80', 'models.test:8080'])
})

test.each<[name: string, status: number | undefined, says: string]>([
  ['that asks for another password', undefined, 'answered 407: it needs another user or password'],
  ['that does not allow the target', 403, 'answered 403'],
])('a proxy %s: 502 with a sentence that names it, not its password', async (_name, status, says) => {
  const proxy = await startProxy({ credentials: 'me:other' })
  proxy.refuseWith(status)
  const gateway = await start(proxy.url.replace('//', '//me:secret@'))
  const answer = await world.post(chatPath, {}, gateway)
  const message = `The gateway could not reach the model provider: the egress proxy ${proxy.url} ${says} (CONNECT models.test:8080).`
  expect([answer.status, await answer.json()]).toMatchObject([
    502,
    { error: { code: 'egress_proxy_failed', message } },
  ])
  const record = await world.recordOf(idOf(answer))
  expect(record).toMatchObject({ status_code: 502, error: message })
  expect(JSON.stringify(record)).not.toContain('secret')
  expect(world.upstream.requests).toHaveLength(0)
})

test('a proxy that is down, and one that does not answer', async () => {
  const down = await startProxy()
  await down.stop()
  const silent = createPlainServer().on('connect', (_, socket) => {
    socket.on('error', () => socket.destroy()).on('end', () => socket.end())
    socket.resume()
  })
  const local = await startLocalServer(silent)
  const gateways = [await start(down.url), await start(local.url, { UPSTREAM_CONNECT_TIMEOUT_MS: '200' })]
  const answers = await Promise.all(gateways.map((gateway) => world.post(chatPath, {}, gateway)))
  const messages = await Promise.all(
    answers.map(async (answer) => ((await answer.json()) as { error: { message: string } }).error.message),
  )
  expect(answers.map(({ status }) => status)).toEqual([502, 502])
  expect(messages[0]).toContain(`${down.url} could not be reached: ECONNREFUSED`)
  expect(messages[1]).toContain(`${local.url} did not answer in time`)
  await local.stop()
})

test('what NO_PROXY names, and loopback, is reached without the proxy', async () => {
  const proxy = await startProxy()
  const named = await start(proxy.url, { NO_PROXY: 'other.test, .test:8080' })
  // Nobody but the proxy knows the name.
  expect((await world.post(chatPath, {}, named)).status).toBe(502)
  const loopback = await start(proxy.url, { UPSTREAM_URL: world.upstream.url })
  expect((await world.post(chatPath, {}, loopback)).status).toBe(200)
  expect(proxy.targets).toEqual([])
})
