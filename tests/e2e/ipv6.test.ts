import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterEach, describe, expect, test } from '@jest/globals'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createRegistryCodec } from '#runtime/kafka/registry-codec.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { hostOf } from '#runtime/outbound-address.ts'
import { requireOwnSessions } from '#runtime/own-sessions.ts'
import { createPool, query } from '#runtime/postgres.ts'
import { createSender } from '#services/notifier/sending/send-attempt.ts'
import { sendOnce } from '#services/notifier/testing/send-once.ts'
import { testInfrastructure } from '../support/infrastructure.ts'
import { sized, startRawUpstream } from '../support/raw-upstream.ts'
import { startApi } from '../support/start-api.ts'
import { adminPassword, startDashboard } from '../support/start-dashboard.ts'
import { proxyKey, startGateway } from '../support/start-gateway.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'

const log = createLog('test', 'silent')
const hasIPv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
)
if (!hasIPv6) process.stderr.write('NOT SHOWN: this host has no IPv6\n')
const relays: { server: Server; sockets: Set<Socket> }[] = []

afterEach(async () => {
  for (const { server, sockets } of relays.splice(0)) {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
})

/** A relay from a port of `::1` to an IPv4 service, which counts connections. */
async function relayTo(host: string, port: number): Promise<{ port: number; came: () => number }> {
  const sockets = new Set<Socket>()
  let came = 0
  const server = createServer((near) => {
    came++
    const far = connect(port, host)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far).pipe(near)
  })
  relays.push({ server, sockets })
  await new Promise<void>((resolve) => server.listen(0, '::1', resolve))
  return { port: (server.address() as AddressInfo).port, came: () => came }
}

;(hasIPv6 ? describe : describe.skip)('at an IPv6 address', () => {
  test('connects to Kafka', async () => {
    const [host = '', port] = (testInfrastructure().brokers[0] ?? '').split(':')
    const relay = await relayTo(host, Number(port))
    const kafka = createKafka({ KAFKA_BROKERS: [`[::1]:${relay.port}`] }, { clientId: 'test', log })
    const { brokers } = await withAdmin(kafka, (admin) => admin.describeCluster())
    expect(brokers.length).toBeGreaterThan(0)
    expect(relay.came()).toBeGreaterThan(0)
  })

  test('connects to Postgres, by pools and by single connections', async () => {
    const url = new URL(testInfrastructure().postgresUrl)
    const relay = await relayTo(url.hostname, Number(url.port))
    url.host = `[::1]:${relay.port}`
    const address = { DATABASE_URL: url.href, DATABASE_POOL_SIZE: 1 }
    await requireOwnSessions(address)
    const pool = createPool(address, { log, metrics: createMetrics(), applicationName: 'test' })
    const { rows } = await query(pool, 'select 1 as one')
    await pool.end()
    expect(rows).toEqual([{ one: 1 }])
    expect(relay.came()).toBe(3)
  })

  test('connects to the schema registry', async () => {
    const url = new URL(testInfrastructure().registryUrl)
    const relay = await relayTo(url.hostname, Number(url.port))
    url.host = `[::1]:${relay.port}`
    const registry = createRegistryCodec({ url: url.href, log })
    const codec = registry.codec({ subject: 'not-there', schema: { type: 'string' } })
    await expect(codec.encode('a')).rejects.toMatchObject({ code: 'SCHEMA_NOT_REGISTERED' })
    expect(relay.came()).toBeGreaterThan(0)
  })

  test('applications reach the gateway, and the gateway the provider', async () => {
    const upstream = await startRawUpstream()
    upstream.answer(sized('200 OK', [], 'models'))
    const { hostname, port } = new URL(upstream.url)
    const relay = await relayTo(hostname, Number(port))
    const gateway = await startGateway({
      GATEWAY_HOST: '::',
      UPSTREAM_URL: `http://[::1]:${relay.port}`,
      UPSTREAM_API_KEY: 'sk',
    })
    try {
      const headers = { authorization: `Bearer ${proxyKey}` }
      const answers = await Promise.all(
        ['[::1]', '127.0.0.1'].map(async (host) =>
          (await fetch(`http://${host}:${gateway.port}/v1/models`, { headers })).text(),
        ),
      )
      expect(answers).toEqual(['models', 'models'])
      expect(upstream.requests[0]?.lines).toContain(`host: [::1]:${relay.port}`)
    } finally {
      await gateway.stop()
      await upstream.stop()
    }
  })

  test('users reach the dashboard, and the dashboard the API', async () => {
    const api = await startApi({ API_HOST: '::' })
    const dashboard = await startDashboard(api.baseUrl.replace('127.0.0.1', '[::1]'), {
      DASHBOARD_HOST: '::',
    })
    try {
      const { port } = new URL(dashboard.baseUrl)
      const answer = await fetch(`http://[::1]:${port}/bff/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-sluice-dashboard': '1' },
        body: JSON.stringify({ name: 'admin', password: adminPassword }),
      })
      expect(answer.status).toBe(200)
      const { rows } = await api.pool.query('select address from logins')
      expect(rows).toEqual([{ address: '::1' }])
    } finally {
      await dashboard.stop()
      await api.stop()
    }
  })

  test.each(['::1', '[::1]', '0:0:0:0:0:0:0:1'])(
    'a webhook is sent there where %s is allowed',
    async (allowed) => {
      const receiver = await startWebhookReceiver()
      const { hostname, port } = new URL(receiver.url)
      const relay = await relayTo(hostname, Number(port))
      const sender = createSender({
        policy: { insecureHosts: new Set([hostOf(allowed)]), ports: new Set([443]) },
        resolveHost: () => Promise.reject(new Error('no name is looked up')),
        timeoutMs: 60_000,
        maxConnections: 1,
      })
      try {
        const result = await sendOnce(sender, `http://[::1]:${relay.port}/hook`, {}, Buffer.from('{}'))
        expect(result).toMatchObject({ statusCode: 200, error: null })
      } finally {
        await sender.close()
        await receiver.close()
      }
    },
  )
})
