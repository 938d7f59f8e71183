import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { chunk, startRawUpstream, type RawUpstream } from '#tests/support/raw-upstream.ts'
import { startRecordReceiver, type RecordReceiver } from '#tests/support/record-receiver.ts'
import { startGatewayProcess, type GatewayProcess } from '#tests/support/start-gateway-process.ts'
import { until } from '#tests/support/until.ts'

/**
 * The gateway as it runs: processes, a log, a spool. The spool is unencrypted, so that a test can search its
 * content.
 */
let receiver: RecordReceiver
let upstream: RawUpstream
let gateway: GatewayProcess
let directory: string
let operations: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-workers-'))
  receiver = await startRecordReceiver()
  upstream = await startRawUpstream()
  gateway = await startGatewayProcess({
    directory,
    providerUrl: upstream.url,
    receiverUrl: receiver.url,
    environment: {
      LOG_LEVEL: 'trace',
      GATEWAY_WORKERS: '2',
      // Each worker may use half and drops the rest. High enough that a slow moment of one causes no drops.
      GATEWAY_MAX_CONNECTIONS: '200',
      PROXY_API_KEY: 'SECRET-proxy-key',
      SERVICE_API_KEY: 'svc_SECRET-service-key',
    },
  })
  operations = `http://127.0.0.1:${gateway.operationsPort}`
})

afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
  await receiver.stop()
  await rm(directory, { recursive: true })
})

const headers = {
  authorization: 'Bearer SECRET-proxy-key',
  'api-key': 'SECRET-static-key',
  cookie: 'session=SECRET-cookie',
  'x-api-key': 'SECRET-other-key',
}

/** On its own connection, so that workers share the calls. Resolves with the identifier. */
function call(path = '/v1/chat/completions', body = '{"model":"m"}'): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', agent: false, headers: { ...headers, 'content-length': body.length } }
    request(gateway.url + path, options, (response) => {
      response.resume()
      response.on('end', () => resolve(String(response.headers['x-service-request-id'])))
      response.on('error', reject)
    })
      .on('error', reject)
      .end(body)
  })
}
const callMany = (count: number) => Promise.all(Array.from({ length: count }, () => call()))
const metrics = async () => (await fetch(`${operations}/metrics`)).text()
async function metric(name: string): Promise<number> {
  const lines = (await metrics()).split('\n').filter((line) => line.startsWith(name))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}
async function workers(): Promise<number[]> {
  const pid = gateway.pid()
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.trim().split(' ').map(Number)
}
const foldersOf = async () =>
  (await readdir(join(directory, 'spool'))).filter((name) => name.startsWith('worker-'))

async function onDisk(): Promise<string> {
  const entries = await readdir(join(directory, 'spool'), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const texts = await Promise.all(
    files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')),
  )
  return texts.join('\n')
}

test('two workers serve one port, each with a spool of its own, and are counted together', async () => {
  const ids = await callMany(30)
  await until(() => ids.every((id) => receiver.taken.some((record) => record.id === id)))
  await until(async () => (await metric('sluice_gateway_recorded_total')) === 30)
  expect(await metric('sluice_gateway_workers ')).toBe(2)
  expect(await foldersOf()).toHaveLength(2)
  const readiness = await fetch(`${operations}/readyz`)
  expect([readiness.status, await readiness.json()]).toEqual([200, { status: 'ok' }])
  const names = new Set(receiver.heartbeats.map(({ name }) => String(name).split('/')[1]))
  expect(names).toEqual(new Set(['1', '2']))
})

test('a gateway of one process counts it', async () => {
  const alone = await startGatewayProcess({
    directory: join(directory, 'alone'),
    providerUrl: upstream.url,
    receiverUrl: receiver.url,
    environment: { GATEWAY_WORKERS: '1' },
  })
  const said = await (await fetch(`http://127.0.0.1:${alone.operationsPort}/metrics`)).text()
  await alone.stop()
  expect(said).toMatch(/^sluice_gateway_workers 1$/m)
  expect(said).toMatch(/^sluice_gateway_workers_ended_total 0$/m)
})

test('a worker that is killed is replaced, its records are adopted, and no counter goes back', async () => {
  receiver.refuseAll(503)
  const ids = await callMany(20)
  await until(async () => (await metric('sluice_gateway_recorded_total')) === 50)
  const [victim = 0] = await workers()
  process.kill(victim, 'SIGKILL')
  await until(async () => (await metric('sluice_gateway_workers_ended_total')) === 1)
  // The other worker serves meanwhile.
  ids.push(await call())
  await until(async () => (await metric('sluice_gateway_workers ')) === 2)
  expect(await workers()).not.toContain(victim)
  expect(await metric('sluice_gateway_recorded_total')).toBeGreaterThanOrEqual(50)
  receiver.refuseAll(undefined)
  await until(() => ids.every((id) => receiver.taken.some((record) => record.id === id)))
})

test('hostile paths and models add no series', async () => {
  const series = async () => new Set((await metrics()).split('\n').map((line) => line.replace(/ [^ ]*$/, '')))
  upstream.answer((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'))
  const paths = [
    '/v1/chat/completions',
    '/x"} 1\nevil{a="b',
    '/openai/deployments/EVIL/chat/completions',
  ].map(encodeURI)
  for (const path of paths) await call(path, '{"model":"EVIL\\"} 1"}')
  await until(async () => (await metric('sluice_gateway_recorded_total')) > 52)
  const before = await series()
  const recorded = await metric('sluice_gateway_recorded_total')
  for (const path of paths) await call(`${path}?${'x'.repeat(20)}`, '{"model":"EVIL2\\n"}')
  // Two of the three are model calls.
  await until(async () => (await metric('sluice_gateway_recorded_total')) >= recorded + 2)
  const after = await series()
  // Node adds these gauges for each kind of handle or request that is active, and on the first garbage
  // collection of a kind.
  const own = [...after].filter((line) => !/^nodejs_(active|gc)_/.test(line))
  expect(own.filter((line) => !before.has(line))).toEqual([])
  expect([...after].join('\n')).not.toMatch(/EVIL|evil/)
})

test('secrets are neither in the log nor in the spool, whatever goes wrong', async () => {
  receiver.refuseAll(401)
  await callMany(2)
  upstream.answer((socket) => socket.end('SMTP hello\r\n\r\n'))
  await call()
  upstream.answer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nSet-Cookie: SECRET-set-cookie\r\nTransfer-Encoding: chunked\r\n\r\n')
    socket.end(chunk('data: {}\n\n'))
  })
  await expect(call()).rejects.toThrow()
  await until(async () => (await gateway.output()).includes('broke off'))
  const spool = await onDisk()
  expect(spool).toContain('"request_body":{"model":"m"}')
  expect(spool).not.toContain('SECRET')
  expect(await gateway.output()).not.toContain('SECRET')
  receiver.refuseAll(undefined)
})

test('SIGTERM lets the answers of all workers end', async () => {
  const sockets: (() => void)[] = []
  upstream.answer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n')
    sockets.push(() => socket.write('0\r\n\r\n'))
  })
  const streams = Array.from({ length: 6 }, () => call())
  await until(() => sockets.length === 6)
  const stopping = gateway.stop()
  // Workers receive the signal too, and may log it before the parent process handles it.
  await until(async () => (await fetch(`${operations}/readyz`)).status === 503)
  for (const end of sockets) end()
  const ids = await Promise.all(streams)
  expect(await stopping).toBe(0)
  const spool = await onDisk()
  for (const id of ids)
    expect(spool.includes(id) || receiver.taken.some((record) => record.id === id)).toBe(true)
})
