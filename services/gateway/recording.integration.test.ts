import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { idTimeMs, newId } from '#schemas/ids.ts'
import { chatBody, chatPath, idOf, useGateway } from '#tests/support/gateway-fixture.ts'
import { sized } from '#tests/support/raw-upstream.ts'
import { until } from '#tests/support/until.ts'

const world = useGateway()
const json = ['Content-Type: application/json']

describe('labels', () => {
  test('are taken off and recorded; the identifier names one attempt', async () => {
    // A client whose clock is an hour ahead.
    const id = newId('request', Date.now() + 3_600_000)
    const headers = {
      'x-service-agent-name': 'clerk',
      'x-service-agent-tag': 't',
      'x-service-session-id': 's1',
      'x-service-user-id': 'u1',
      'x-service-request-id': id,
      'x-service-metadata': '{"a": [1]}',
      'x-service-context': '0,/messages/1',
    }
    const first = await world.post(chatPath, { headers })
    const second = await world.post(chatPath, { headers })
    expect(idOf(first)).toBe(id)
    expect(idOf(second)).not.toBe(id)
    expect(world.upstream.requests[0]?.lines.join('\n')).not.toMatch(/x-service/i)
    const labels = {
      agent_name: 'clerk',
      agent_tag: 't',
      session_id: 's1',
      user_id: 'u1',
      metadata: { a: [1] },
      context: ['0', '/messages/1'],
    }
    expect(await world.recordOf(id)).toMatchObject(labels)
    expect(await world.recordOf(idOf(second))).toMatchObject(labels)
  })

  test('malformed ones are left out and counted; the call goes on', async () => {
    const headers = {
      'x-service-request-id': 'req_1',
      'x-service-metadata': '[1]',
      'x-service-agent-name': 'x'.repeat(300),
      'x-service-context': 'messages',
    }
    const record = await world.recordOf(idOf(await world.post(chatPath, { headers })))
    expect(record).not.toHaveProperty('agent_name')
    expect(record).not.toHaveProperty('metadata')
    expect(record).not.toHaveProperty('context')
    expect(await world.metric('sluice_gateway_malformed_headers_total')).toMatch(/ 4$/m)
  })
})

describe('the record', () => {
  test('holds the bodies as the bytes that came, and the key of the project goes with it', async () => {
    world.upstream.answer(sized('200 OK', json, '{"id": "x",  "n":1.0, "usage":{"prompt_tokens":3}}'))
    const id = idOf(await world.post())
    const record = await world.recordOf(id)
    const text = world.receiver.texts.find((posted) => posted.includes(id ?? '-')) ?? ''
    expect(text).toContain(`"request_body":${chatBody}`)
    expect(text).toContain('"response_body":{"id": "x",  "n":1.0, "usage":{"prompt_tokens":3}}')
    expect(world.receiver.keys).toEqual(new Set(['svc_test']))
    expect(record).toMatchObject({ source: 'gateway', status_code: 200, error: null, aborted_by: null })
    expect(record?.['latency_ms']).toBeGreaterThan(0)
    expect(Math.abs(idTimeMs(id ?? '') - Date.now())).toBeLessThan(60_000)
  })

  test.each<[string, string, unknown]>([
    ['text', 'hello', { raw: 'hello', encoding: 'utf8' }],
    ['an array', '[1]', { raw: '[1]', encoding: 'utf8' }],
    ['nothing', '', { raw: '', encoding: 'utf8' }],
    [
      'an object nested too deep for readers',
      `{"a":${'['.repeat(300)}${']'.repeat(300)}}`,
      { encoding: 'utf8' },
    ],
  ])('wraps %s', async (_name, body, expected) => {
    expect(
      (await world.recordOf(idOf(await world.post(chatPath, { body }))))?.['request_body'],
    ).toMatchObject(expected as object)
  })

  test('a deployment in the path names the model that the bodies do not', async () => {
    const response = await world.post('/openai/deployments/my%20gpt/chat/completions?api-version=1', {
      body: '{}',
    })
    expect(await world.recordOf(idOf(response))).toMatchObject({ model: 'my gpt', provider: 'azure' })
  })

  test('compressed bodies pass compressed and are recorded decoded', async () => {
    const body = gzipSync('{"model":"m","answer":"yes"}')
    world.upstream.answer(sized('200 OK', [...json, 'Content-Encoding: gzip'], body))
    const request = gzipSync(chatBody)
    const response = await world.post(chatPath, { headers: { 'content-encoding': 'gzip' }, body: request })
    expect(world.upstream.requests.at(-1)?.body).toEqual(request)
    expect(response.headers.get('content-encoding')).toBe('gzip')
    expect(await response.json()).toEqual({ model: 'm', answer: 'yes' })
    const record = await world.recordOf(idOf(response))
    expect(record?.['response_body']).toEqual({ model: 'm', answer: 'yes' })
    expect(record?.['request_body']).toMatchObject({
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
    })
  })

  test('nothing of the headers is in it, and the spool is not readable', async () => {
    const id = idOf(
      await world.post(chatPath, { headers: { cookie: 'secret-cookie', 'api-key': 'secret-api-key' } }),
    )
    await world.recordOf(id)
    expect(world.receiver.texts.join('')).not.toMatch(/secret-|a-proxy-key/)
  })
})

test('a heartbeat tells what waits and what is lost; one that is not taken disturbs nothing', async () => {
  world.receiver.refuseAll(503)
  const gateway = await world.startAnother({ GATEWAY_HEARTBEAT_MS: '20', CAPTURE_MAX_BYTES: '65536' })
  await world.post(chatPath, {}, gateway)
  const failures = () =>
    gateway.metrics.registry.getSingleMetricAsString('sluice_gateway_heartbeat_failures_total')
  await until(async () => / [1-9]\d*$/m.test(await failures()))
  world.receiver.refuseAll(undefined)
  world.receiver.decide(() => 503)
  const last = () => world.receiver.heartbeats.findLast(({ name }) => String(name).includes(':0/'))
  await until(
    () => JSON.stringify(last()).includes('"records":1') && JSON.stringify(last()).includes('"backend"'),
  )
  expect(last()).toMatchObject({
    version: expect.stringMatching(/^\d/),
    delivery: 'api',
    spool: { oldest_at: expect.stringMatching(/Z$/), bytes: expect.any(Number) },
    lost: {},
    problems: { backend: expect.any(String) },
  })
  world.receiver.decide(() => 202)
  await until(() => (last()?.['spool'] as { records: number } | undefined)?.records === 0)
  await gateway.stop()
})

describe('delivery', () => {
  test.each([503, 401, 500, 404])('a service that answers %i loses nothing', async (status) => {
    world.receiver.refuseAll(status)
    const ids = await Promise.all(Array.from({ length: 5 }, async () => idOf(await world.post())))
    await until(() => world.gateway.gateway.health().status === 'degraded')
    world.receiver.refuseAll(undefined)
    for (const id of ids) await world.recordOf(id)
    for (const id of ids) expect(world.receiver.taken.filter((record) => record.id === id)).toHaveLength(1)
    await until(() => world.gateway.gateway.health().status === 'ok')
  })

  test('refused for good: kept aside, counted, and the ones behind are sent', async () => {
    const bad = newId('request')
    world.receiver.decide((record) => (record.id === bad ? 422 : 202))
    await world.post(chatPath, { headers: { 'x-service-request-id': bad } })
    await world.recordOf(idOf(await world.post()))
    const delivered = await world.metric('sluice_gateway_records_delivered_total')
    expect(delivered).toMatch(/verdict="refused"\} 1/)
  })

  test('refused for good, and the disk does not keep it: lost, counted, and the ones behind are sent', async () => {
    // A file stands in the place of the folder.
    await writeFile(join(world.gateway.spoolDirectory, 'rejected'), '')
    const bad = newId('request')
    world.receiver.decide((record) => (record.id === bad ? 422 : 202))
    await world.post(chatPath, { headers: { 'x-service-request-id': bad } })
    await until(async () =>
      (await world.metric('sluice_gateway_records_lost_total')).includes('reason="spool_write"} 1'),
    )
    await world.recordOf(idOf(await world.post()))
  })

  test('over quota: dropped and counted', async () => {
    world.receiver.decide(() => 429)
    await world.post()
    const delivered = () => world.metric('sluice_gateway_records_delivered_total')
    await until(async () => (await delivered()).includes('verdict="over_quota"} 1'))
    world.receiver.decide(() => 202)
    await world.recordOf(idOf(await world.post()))
  })

  test('records that wait when a gateway stops are sent by the next', async () => {
    world.receiver.refuseAll(503)
    const first = await world.startAnother({ SPOOL_DIR: world.gateway.spoolDirectory })
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => idOf(await world.post(chatPath, {}, first))),
    )
    await first.stop()
    world.receiver.refuseAll(undefined)
    const next = await world.startAnother({ SPOOL_DIR: world.gateway.spoolDirectory })
    for (const id of ids) await world.recordOf(id)
    await next.stop()
  })

  test('records of a project that keeps no content wait apart, also when the next gateway cannot ask', async () => {
    world.receiver.keepNothing(true)
    world.receiver.decide(() => 503)
    const directory = await mkdtemp(join(tmpdir(), 'sluice-keeps-nothing-'))
    const waiting = async () => {
      const names = await readdir(directory, { recursive: true })
      return names
        .filter((name) => name.endsWith('segment'))
        .map((name) => name.split('.').slice(1).join('.'))
    }
    const first = await world.startAnother({ SPOOL_DIR: directory })
    await world.post(chatPath, {}, first)
    expect(await waiting()).toEqual(['ephemeral.segment'])
    await first.stop()
    world.receiver.refuseAll(503)
    const next = await world.startAnother({ SPOOL_DIR: directory })
    const response = await world.post(chatPath, {}, next)
    expect(await waiting()).toEqual(['ephemeral.segment', 'ephemeral.segment'])
    world.receiver.keepNothing(false)
    world.receiver.refuseAll(undefined)
    world.receiver.decide(() => 202)
    expect((await world.recordOf(idOf(response)))?.['project_id']).toMatch(/^prj_/)
    await next.stop()
    await rm(directory, { recursive: true })
  })

  test('a record that was written under another GATEWAY_AUTH waits aside for a gateway that has its key', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'sluice-other-auth-'))
    // The key's project is unknown, so the record names none.
    world.receiver.refuseAll(503)
    const first = await world.startAnother({ SPOOL_DIR: directory })
    const id = idOf(await world.post(chatPath, {}, first))
    await first.stop()
    world.receiver.refuseAll(undefined)
    const other = await world.startAnother({
      SPOOL_DIR: directory,
      GATEWAY_AUTH: 'project_keys',
      UPSTREAM_API_KEY: 'up',
      INTERNAL_API_SECRET: 'a-secret-for-tests',
      SERVICE_API_KEY: '',
    })
    await until(async () =>
      (await readdir(directory, { recursive: true })).some((name) => /^parked.*segment$/.test(name)),
    )
    await other.stop()
    const next = await world.startAnother({ SPOOL_DIR: directory })
    await world.recordOf(id)
    await until(async () => (await readdir(join(directory, 'parked'))).length === 0)
    await next.stop()
    await rm(directory, { recursive: true })
  })
})
