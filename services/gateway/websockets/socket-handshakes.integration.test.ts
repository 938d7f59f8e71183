import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { expect, test } from '@jest/globals'
import { WebSocket } from 'ws'
import { keyHeaders, useSockets } from '#tests/support/socket-fixture.ts'
import { proxyKey } from '#tests/support/start-gateway.ts'

const sockets = useSockets()

test.each([
  ['as a subprotocol', { protocols: ['realtime', `openai-insecure-api-key.${proxyKey}`] }, 'realtime'],
  ['as api-key', { headers: { 'api-key': proxyKey } }, undefined],
])(
  'a key that comes %s is accepted and goes no further',
  async (
    _name,
    {
      protocols,
      headers: given = {},
    }: {
      protocols?: string[]
      headers?: Record<string, string>
    },
    forwarded,
  ) => {
    const client = new WebSocket(sockets.address('/v1/realtime?model=gpt-realtime'), protocols ?? [], {
      headers: given,
    })
    await once(client, 'open')
    client.close()
    const [handshake] = sockets.provider.handshakes
    expect(handshake?.url).toBe('/v1/realtime?model=gpt-realtime')
    expect(handshake?.headers['sec-websocket-protocol']).toBe(forwarded)
    expect(handshake?.headers.authorization).toBe('Bearer provider-key')
    expect(JSON.stringify(handshake?.rawHeaders)).not.toContain(proxyKey)
  },
)

test('the refusal of a provider passes byte for byte, and the key of nobody gets 401', async () => {
  sockets.provider.refuseWith((socket) => {
    socket.write(
      'HTTP/1.1 404 No Such\r\nX-One: 1\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n',
    )
    socket.write('3\r\nno \r\n5\r\nmodel\r\n0\r\n\r\n')
  })
  const refusal = async (given: Record<string, string>) => {
    const [, response] = (await once(
      new WebSocket(sockets.address('/v1/responses'), { headers: given }),
      'unexpected-response',
    )) as [unknown, IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() }
  }
  expect(await refusal(keyHeaders)).toMatchObject({
    ...{ status: 404, body: 'no model' },
    headers: { 'x-one': '1', 'x-service-request-id': expect.stringMatching(/^req_/) },
  })
  expect(await refusal({ authorization: 'Bearer wrong' })).toMatchObject({ status: 401 })
})

test('a stopping gateway closes sockets between responses, and tells both sides', async () => {
  const opened = new Promise<WebSocket>((resolve) => sockets.provider.onSocket(resolve))
  const client = new WebSocket(sockets.address('/v1/responses'), { headers: keyHeaders })
  await once(client, 'open')
  const atProvider = once(await opened, 'close')
  const atClient = once(client, 'close')
  await sockets.gateway.gateway.stop()
  expect((await atClient)[0]).toBe(1001)
  expect((await atProvider)[0]).toBe(1001)
})

test('an upstream without WebSockets is not asked: 426 at once', async () => {
  const without = await sockets.startAnother({})
  const client = new WebSocket(`${without.url.replace('http', 'ws')}/v1/responses`, { headers: keyHeaders })
  const [, response] = (await once(client, 'unexpected-response')) as [unknown, { statusCode: number }]
  expect(response.statusCode).toBe(426)
  expect(sockets.provider.handshakes).toEqual([])
  await without.stop()
})

test('a silent socket is closed, and its record of a response under way says so', async () => {
  const short = await sockets.startAnother({ UPSTREAM_WEBSOCKETS: 'true', WEBSOCKET_IDLE_TIMEOUT_MS: '100' })
  const client = new WebSocket(`${short.url.replace('http', 'ws')}/v1/responses`, { headers: keyHeaders })
  await once(client, 'open')
  client.send('{"type":"response.create","model":"m","input":"hi"}')
  expect((await once(client, 'close'))[0]).toBe(1001)
  const [record] = await sockets.records(1)
  expect(record).toMatchObject({ aborted_by: 'upstream', error: 'the WebSocket was silent for 100 ms' })
  await short.stop()
})
