import { expect, test } from '@jest/globals'
import { newId } from '#schemas/ids.ts'
import { openLine, type CuttableLine } from '#tests/support/cuttable-line.ts'
import { startApi } from '#tests/support/start-api.ts'
import { until } from '#tests/support/until.ts'

const call = { request_body: { model: 'gpt-4o-mini' } }

test('Postgres away: known keys of unlimited tiers go on, all else answers 503, and recovers', async () => {
  let line: CuttableLine | undefined
  const api = await startApi(async (databaseUrl) => {
    line = await openLine(databaseUrl)
    return { DATABASE_URL: line.url }
  })
  try {
    const unlimited = await api.createProject()
    const limited = await api.createProject({ tier: 'free' })
    const unused = await api.createProject()
    const log = (key: string) => api.call('POST', '/internal/log', { key, body: call })
    expect([(await log(unlimited.key)).status, (await log(limited.key)).status]).toEqual([202, 202])
    line?.cut()
    expect((await log(unlimited.key)).status).toBe(202)
    const [refused, unknown] = [await log(limited.key), await log(unused.key)]
    expect([refused.status, refused.json['code']]).toEqual([503, 'STORAGE_UNAVAILABLE'])
    expect([unknown.status, unknown.json['code']]).toEqual([503, 'KEYS_UNAVAILABLE'])
    expect(Number(unknown.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await api.call('GET', '/api/requests', { key: unlimited.key })).status).toBe(503)
    await until(async () => (await api.call('GET', '/readyz')).json['status'] === 'degraded')
    line?.mend()
    await until(async () => (await log(unused.key)).status === 202)
    await until(async () => (await api.call('GET', '/readyz')).json['status'] === 'ok')
  } finally {
    await api.stop()
    await line?.close()
  }
})

test('Kafka away: 503 with Retry-After and the id to send it again with, which counts once', async () => {
  const api = await startApi({ KAFKA_BROKERS: '127.0.0.1:1' })
  try {
    const { key } = await api.createProject({ tier: 'free' })
    const other = await api.createProject()
    const id = newId('request')
    const invalid = { ...call, latency_ms: 'x' }
    const sendAll = (records: object[]) =>
      api.call('POST', '/internal/log/batch', { key: other.key, body: { records } })
    const [[whole, part, alone], ...answers] = await Promise.all([
      Promise.all([
        sendAll([call, { ...call, id }]),
        sendAll([call, invalid]),
        api.call('POST', '/internal/log', { key: other.key, body: call }),
      ]),
      ...[id, id].map((same) => api.call('POST', '/internal/log', { key, body: { ...call, id: same } })),
    ])
    const made = expect.stringMatching(/^req_/) as unknown
    expect([whole.status, whole.json]).toMatchObject([
      503,
      { code: 'QUEUE_UNAVAILABLE', retry_ids: [made, id] },
    ])
    expect([part.status, part.json]).toMatchObject([
      200,
      { results: [{ status_code: 503, retry_id: made }, { status_code: 422 }] },
    ])
    expect([alone.status, alone.json]).toMatchObject([503, { retry_id: made }])
    for (const answer of answers) {
      expect([answer.status, answer.json['code']]).toEqual([503, 'QUEUE_UNAVAILABLE'])
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    const usage = await api.call('GET', '/api/billing/subscription', { key })
    expect(usage.json['requests_this_period']).toBe(1)
    // Reading still works, so it stays ready; the problem is named.
    const { status, json } = await api.call('GET', '/readyz')
    expect([status, json]).toEqual([
      200,
      {
        status: 'degraded',
        problems: { kafka: expect.stringMatching(/^Kafka did not acknowledge .*ECONNREFUSED/) },
      },
    ])
  } finally {
    await api.stop()
  }
})
