import { createServer } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { afterEach, expect, test } from '@jest/globals'
import { parseNoProxy } from '#runtime/egress/no-proxy.ts'
import { startConnectProxy, type ConnectProxy } from '#tests/support/connect-proxy.ts'
import { startLocalServer } from '#tests/support/local-server.ts'
import { makeCertificate } from '#tests/support/make-certificate.ts'
import { createHttpSender } from '../destinations/send-http.ts'
import { sendOnce } from '../testing/send-once.ts'
import { createSender, type SenderOptions } from './send-attempt.ts'

const tls = makeCertificate('hooks.example')
const url = 'https://hooks.example:8443/hook'
/** A public address, which the test's proxy leads to its receiver. */
const address = '93.184.215.14'
const body = Buffer.from('{"event":"usage_alert"}')
const opened: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

interface Received {
  sni: string | false | null
  host: string | undefined
}

/** A receiver that only the proxy can reach. */
async function startReceiver(): Promise<{ proxy: ConnectProxy; received: Received[] }> {
  const received: Received[] = []
  const server = createServer(tls, (request, response) => {
    received.push({ sni: (request.socket as TLSSocket).servername, host: request.headers.host })
    request.resume().on('end', () => response.end())
  })
  const local = await startLocalServer(server)
  const port = Number(new URL(local.url).port)
  const leads = new Map(['hooks.example', address].map((host) => [`${host}:8443`, port]))
  const proxy = await startConnectProxy({ leads })
  opened.push(local.stop, proxy.stop)
  return { proxy, received }
}

interface Given {
  /** What the name resolves to, one after the other. */
  answers?: string[][]
  noProxy?: string[]
  proxyResolves?: boolean
}

/** Also counts what was resolved. */
function optionsOf(
  proxy: ConnectProxy,
  { answers = [[address]], noProxy = [], proxyResolves = false }: Given,
) {
  const resolved: string[] = []
  const options: SenderOptions = {
    policy: { insecureHosts: new Set<string>(), ports: new Set([8_443]) },
    ca: tls.cert,
    resolveHost: (host) => {
      resolved.push(host)
      return Promise.resolve(answers[Math.min(resolved.length, answers.length) - 1] ?? [])
    },
    timeoutMs: 60_000,
    maxConnections: 10,
    egress: {
      ...{ UPSTREAM_PROXY_URL: proxy.url, NO_PROXY: parseNoProxy(noProxy) },
      WEBHOOK_PROXY_RESOLVES: proxyResolves,
    },
  }
  return { options, resolved }
}

async function send(options: SenderOptions, to = url) {
  const sender = createSender(options)
  opened.push(() => sender.close())
  return sendOnce(sender, to, {}, body)
}

test('CONNECT goes to the address that was checked, with SNI and Host of the name', async () => {
  const { proxy, received } = await startReceiver()
  const { options } = optionsOf(proxy, { answers: [['10.0.0.1', address]] })
  expect(await send(options)).toMatchObject({ statusCode: 200, error: null })
  expect(proxy.targets).toEqual([`${address}:8443`])
  expect(received).toEqual([{ sni: 'hooks.example', host: 'hooks.example:8443' }])
})

test('a name that changes after the check changes nothing: it is resolved once, and never by the proxy', async () => {
  const { proxy } = await startReceiver()
  const { options, resolved } = optionsOf(proxy, { answers: [[address], ['127.0.0.1']] })
  const sender = createSender(options)
  opened.push(() => sender.close())
  expect(await sendOnce(sender, url, {}, body)).toMatchObject({ statusCode: 200 })
  expect([proxy.targets, resolved]).toEqual([[`${address}:8443`], ['hooks.example']])
  // A new connection checks the address again, and the name now resolves to an internal one.
  const slow = await sendOnce(sender, url, {}, body, false)
  expect(slow).toMatchObject({ statusCode: null, error: 'the host has no public address' })
  expect(proxy.targets).toHaveLength(1)
})

test.each([
  [
    'a literal address inside',
    { proxyResolves: true },
    'https://169.254.169.254:8443/',
    'the URL must not be an internal address',
  ],
  [
    'an address inside of a name that goes past the proxy',
    { noProxy: ['.example'], answers: [['10.0.0.1']], proxyResolves: true },
    url,
    'the host has no public address',
  ],
  ['a name without addresses', { answers: [[]] }, url, 'the host has no public address'],
])('%s is refused', async (_name, given: Given, to, error) => {
  const { proxy } = await startReceiver()
  expect(await send(optionsOf(proxy, given).options, to)).toMatchObject({ statusCode: null, error })
  expect(proxy.targets).toEqual([])
})

test('where only the proxy can resolve, it gets the name', async () => {
  const { proxy, received } = await startReceiver()
  const { options, resolved } = optionsOf(proxy, { proxyResolves: true })
  expect(await send(options)).toMatchObject({ statusCode: 200, error: null })
  expect([proxy.targets, resolved]).toEqual([['hooks.example:8443'], []])
  expect(received).toMatchObject([{ sni: 'hooks.example' }])
})

test('a proxy that refuses is named as such, without addresses', async () => {
  const { proxy } = await startReceiver()
  proxy.refuseWith(407)
  const { options } = optionsOf(proxy, {})
  expect((await send(options)).error).toBe('the egress proxy answered 407: it needs another user or password')
  proxy.refuseWith(403)
  expect((await send(options)).error).toBe('the egress proxy answered 403')
})

test('destinations go the same way', async () => {
  const { proxy, received } = await startReceiver()
  const sender = createHttpSender(optionsOf(proxy, {}).options)
  opened.push(() => sender.close())
  expect(await sender.post({ url, headers: {}, body })).toMatchObject({
    status: 200,
    error: null,
  })
  expect(proxy.targets).toEqual([`${address}:8443`])
  expect(received).toEqual([{ sni: 'hooks.example', host: 'hooks.example:8443' }])
})
