import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { makeCertificate } from '#tests/support/make-certificate.ts'
import { startRecordReceiver, type RecordReceiver } from '#tests/support/record-receiver.ts'
import { proxyKey, startGateway } from '#tests/support/start-gateway.ts'
import { startGatewayProcess, type GatewayProcess } from '#tests/support/start-gateway-process.ts'
import { until } from '#tests/support/until.ts'

const headers = { authorization: `Bearer ${proxyKey}`, 'content-type': 'application/json' }
const path = '/v1/chat/completions'

let provider: Server
let connections = 0
let receiver: RecordReceiver
let gateway: GatewayProcess
let directory: string
let providerUrl: string

/** A provider behind TLS, as real ones are. It echoes the request. */
beforeAll(async () => {
  const certificate = makeCertificate()
  provider = createServer(certificate, (request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    request.pipe(response)
  })
  provider.on('secureConnection', () => connections++)
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  providerUrl = `https://127.0.0.1:${(provider.address() as AddressInfo).port}`
  receiver = await startRecordReceiver()
  directory = await mkdtemp(join(tmpdir(), 'sluice-tls-provider-'))
  await writeFile(join(directory, 'authority.pem'), certificate.cert)
  gateway = await startGatewayProcess({
    directory,
    providerUrl,
    receiverUrl: receiver.url,
    environment: { NODE_EXTRA_CA_CERTS: join(directory, 'authority.pem') },
  })
})

afterAll(async () => {
  await gateway.stop()
  await receiver.stop()
  provider.closeAllConnections()
  await new Promise((resolve) => provider.close(resolve))
  await rm(directory, { recursive: true })
})

function post(body: string): Promise<Response> {
  return fetch(gateway.url + path, { method: 'POST', headers, body })
}

test('bodies of every length pass both ways, and are recorded', async () => {
  // One write, several TLS records, and a body too long to buffer.
  for (const length of [2, 40_000, 1_000_000]) {
    const body = JSON.stringify({ model: 'm', text: 'x'.repeat(length) })
    const response = await post(body)
    expect([response.status, await response.text()]).toEqual([200, body])
    const id = response.headers.get('x-service-request-id')
    await until(() => receiver.taken.some((record) => record.id === id))
  }
})

test('connections serve many calls', async () => {
  const before = connections
  for (let round = 0; round < 10; round++) {
    const bodies = Array.from({ length: 8 }, (_, at) => `{"model":"m","n":${round * 8 + at}}`)
    const answers = await Promise.all(bodies.map(async (body) => (await post(body)).text()))
    expect(answers).toEqual(bodies)
  }
  expect(connections - before).toBeLessThanOrEqual(16)
})

test('a provider whose certificate nobody vouches for is not spoken to: 502', async () => {
  // In this process, which trusts only the usual authorities.
  const own = await startGateway({ UPSTREAM_URL: providerUrl, API_BACKEND_URL: receiver.url })
  const before = connections
  expect((await fetch(own.url + path, { method: 'POST', headers, body: '{}' })).status).toBe(502)
  expect(connections).toBe(before)
  await own.stop()
})
