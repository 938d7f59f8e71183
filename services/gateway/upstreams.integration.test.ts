import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { authorization, chatBody, chatPath, idOf, useGateway } from '#tests/support/gateway-fixture.ts'
import { chunk, startRawUpstream, type RawUpstream } from '#tests/support/raw-upstream.ts'
import type { RunningGateway } from '#tests/support/start-gateway.ts'
import { until } from '#tests/support/until.ts'

/** One gateway before two providers of a file, and a third of UPSTREAM_URL. */
const world = useGateway()
let directory: string
let file: string
let one: RawUpstream
let two: RawUpstream
let gateway: RunningGateway

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-upstreams-'))
  file = join(directory, 'upstreams.json')
})
afterAll(() => rm(directory, { recursive: true }))
beforeEach(async () => {
  one = await startRawUpstream()
  two = await startRawUpstream()
})
afterEach(async () => {
  await gateway.stop()
  await one.stop()
  await two.stop()
})

/** As Kubernetes does it: the new content appears at once. */
async function write(...upstreams: object[]) {
  await writeFile(`${file}.new`, JSON.stringify({ upstreams }))
  await rename(`${file}.new`, file)
}
const start = async (more: Record<string, string> = {}) => {
  gateway = await world.startAnother({ UPSTREAMS_FILE: file, ...more })
}
const post = (path: string, more: Record<string, string> = {}, through = gateway.url) =>
  fetch(through + path, {
    method: 'POST',
    body: chatBody,
    headers: { authorization, 'content-type': 'application/json', ...more },
  })
const linesAt = (upstream: RawUpstream) => upstream.requests.at(-1)?.lines ?? []

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('each call reaches the upstream of its prefix or port with its key alone, and is recorded as of its provider', async () => {
  const port = await freePort()
  await writeFile(join(directory, 'key'), 'key-of-two\n')
  await write(
    { name: 'one', url: `${one.url}/base`, path_prefix: '/one', provider: 'acme' },
    {
      name: 'two',
      url: two.url,
      port,
      credentials: { key: { file: join(directory, 'key') }, header: 'x-api-key' },
    },
  )
  await start()
  const byPrefix = await post(`/one${chatPath}?a=%2F`)
  expect(linesAt(one)[0]).toBe(`POST /base${chatPath}?a=%2F HTTP/1.1`)
  expect(linesAt(one)).toContain(`authorization: ${authorization}`)
  expect(await world.recordOf(idOf(byPrefix))).toMatchObject({ provider: 'acme', status_code: 200 })
  await post(chatPath, { 'x-api-key': 'theirs' }, `http://127.0.0.1:${port}`)
  expect(linesAt(two).filter((line) => /^(x-api-key|authorization):/i.test(line))).toEqual([
    'x-api-key: key-of-two',
  ])
  await post(chatPath)
  expect(world.upstream.requests).toHaveLength(1)
  expect([one.requests.length, two.requests.length]).toEqual([1, 1])
})

test('a request that no upstream takes gets 404 and is counted', async () => {
  await write({ name: 'one', url: one.url, hosts: ['one.example.com'] })
  await start({ UPSTREAM_URL: '' })
  const answer = await post(chatPath)
  expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'no_upstream' } }])
  expect(await gateway.metrics.registry.getSingleMetricAsString('sluice_gateway_refused_total')).toContain(
    '{reason="target"} 1',
  )
})

test('an upstream that is away is refused at once after its failures, recorded, and leaves the others alone', async () => {
  const away = `http://127.0.0.1:${await freePort()}`
  await write({ name: 'away', url: away, path_prefix: '/away', breaker: { failures: 2, open_ms: 600_000 } })
  await start()
  const answers = []
  for (let call = 0; call < 3; call++) answers.push(await post(`/away${chatPath}`))
  expect(answers.map(({ status }) => status)).toEqual([502, 502, 503])
  expect(await world.recordOf(idOf(answers[2] as Response))).toMatchObject({ status_code: 503 })
  expect((await post(chatPath)).status).toBe(200)
  expect(await gateway.metrics.registry.getSingleMetricAsString('sluice_gateway_upstream_open')).toContain(
    '{upstream="away"} 1',
  )
})

test('a changed file takes effect without a lost call; one that cannot be used leaves the last in use', async () => {
  const first = { name: 'a', url: one.url, path_prefix: '/a' }
  await write(first)
  await start()
  const ends: (() => void)[] = []
  one.answer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n')
    socket.write(chunk('data: {}\n\n'))
    ends.push(() => socket.write(`${chunk('data: [DONE]\n\n')}0\r\n\r\n`))
  })
  const streaming = await post(`/a${chatPath}`)
  await write({ ...first, url: two.url })
  await until(async () => {
    await post(`/a${chatPath}`)
    return two.requests.length > 0
  })
  await write({ ...first, url: 'ftp://x' })
  await until(() => gateway.gateway.health().status === 'degraded')
  expect(gateway.gateway.health().problems?.['upstreams']).toMatch(/upstreams\.0\.url/)
  const before = two.requests.length
  expect((await post(`/a${chatPath}`)).status).toBe(200)
  expect(two.requests).toHaveLength(before + 1)
  for (const end of ends) end()
  expect(await streaming.text()).toContain('[DONE]')
  expect(await world.recordOf(idOf(streaming))).toMatchObject({ status_code: 200, aborted_by: null })
})

test.each([
  [undefined, /UPSTREAM_URL: is needed/],
  ['{"upstreams": [{"name": "A!"}]}', /upstreams\.0\.name: expected/],
])('a gateway without any upstream, or with %s, does not start', async (content, message) => {
  await write({ name: 'one', url: one.url })
  await start()
  if (content !== undefined) await writeFile(file, content)
  await expect(
    world.startAnother({ UPSTREAM_URL: '', ...(content === undefined ? {} : { UPSTREAMS_FILE: file }) }),
  ).rejects.toThrow(message)
})
