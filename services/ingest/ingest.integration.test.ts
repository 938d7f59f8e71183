import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import { newId } from '#schemas/ids.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { topics } from '#schemas/topics.ts'
import { operatorSecret, startApi, type Answer, type RunningApi } from '#tests/support/start-api.ts'

const key32 = Buffer.alloc(32, 7)
const sealer = createSealer([{ id: 'k1', key: key32 }])
let api: RunningApi
let project: { projectId: string; key: string; keyId: string }

beforeAll(async () => {
  api = await startApi({ BODY_ENCRYPTION_KEYS: `k1:${key32.toString('base64')}` })
  project = await api.createProject()
})

afterAll(() => api.stop())

const log = (body: unknown, key = project.key): Promise<Answer> =>
  api.call('POST', '/internal/log', { key, body })
const call = { request_body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] } }

async function recordsOf(projectId: string) {
  return (await api.readTopic(topics.requestLogged)).filter((record) => record.project_id === projectId)
}

describe('POST /internal/log', () => {
  test('keeps the record with its bodies byte for byte, its model, tokens and cost derived', async () => {
    // From a client whose clock is an hour fast.
    const id = newId('request', Date.now() + 3_600_000)
    const request = '{ "model":"gpt-4o-mini", "n":12345678901234567890, "text":"caf\\u00e9 \\ud83d" }'
    const response =
      '{"model":"gpt-4o-mini-2024-07-18","usage":{"prompt_tokens":1000,"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":400}}}'
    const answer = await log(
      `{"id":"${id}","agent_name":"support","latency_ms":12.5,"metadata":{"team":"a"},"context":[1,"/text"],"request_body":${request},"response_body":${response}}`,
    )
    expect([answer.status, answer.json]).toEqual([202, { id, status: 'queued' }])
    const record = (await recordsOf(project.projectId)).find((logged) => logged.id === id)
    expect(record).toMatchObject({
      model: 'gpt-4o-mini-2024-07-18',
      provider: 'openai',
      agent_name: 'support',
      latency_ms: 12.5,
      metadata: '{"team":"a","sluice.context":["1","/text"]}',
      prompt_tokens: 600,
      cached_tokens: 400,
      completion_tokens: 100,
      source: 'api',
      tier: 'enterprise',
    })
    expect(record?.cost_usd).toBeCloseTo((600 * 0.15 + 400 * 0.075 + 100 * 0.6) / 1e6, 12)
    const opened = record?.request_body ?? { codec: '', key_id: null, data: Buffer.alloc(0) }
    expect(opened.key_id).toBe('k1')
    expect(sealer.open(opened, sealedIdentity(project.projectId, id, 'request_body')).toString()).toBe(
      request,
    )
  })

  test('takes a key in either header, X-Service-Key first, and a compressed body', async () => {
    const bearer = await api.call('POST', '/internal/log', {
      headers: { authorization: `Bearer ${project.key}`, 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify(call)),
    })
    expect(bearer.status).toBe(202)
    const both = await api.call('POST', '/internal/log', {
      key: project.key.replace('svc_', 'svc_live_'),
      headers: { authorization: 'Bearer nonsense' },
      body: call,
    })
    expect(both.status).toBe(202)
    const wrongFirst = await api.call('POST', '/internal/log', {
      key: 'nonsense',
      headers: { authorization: `Bearer ${project.key}` },
      body: call,
    })
    expect([wrongFirst.status, wrongFirst.json['code']]).toEqual([401, 'KEY_INVALID'])
  })

  test.each<[string, unknown, number, string, string | undefined]>([
    ['not JSON', '{"request_body":', 400, 'NOT_JSON', undefined],
    ['no body', undefined, 400, 'NOT_JSON', undefined],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 400, 'NOT_UTF8', undefined],
    ['a list', [], 422, 'INVALID_INPUT', ''],
    ['no request body', {}, 422, 'INVALID_INPUT', 'request_body'],
    ['a request body that is text', { request_body: 'x' }, 422, 'INVALID_INPUT', 'request_body'],
    ['NUL in text', { ...call, agent_name: 'a\u0000b' }, 422, 'INVALID_INPUT', 'agent_name'],
    ['a lone surrogate', '{"request_body":{},"user_id":"\\ud800"}', 422, 'INVALID_INPUT', 'user_id'],
    ['NUL in metadata', { ...call, metadata: { a: ['\u0000'] } }, 422, 'INVALID_INPUT', 'metadata'],
    [
      'a huge number in metadata',
      '{"request_body":{},"metadata":{"a":1e999}}',
      422,
      'INVALID_INPUT',
      'metadata',
    ],
    ['negative tokens', { ...call, prompt_tokens: -1 }, 422, 'INVALID_INPUT', 'prompt_tokens'],
    ['half a token', { ...call, completion_tokens: 0.5 }, 422, 'INVALID_INPUT', 'completion_tokens'],
    ['a negative cost', { ...call, cost_usd: -0.1 }, 422, 'INVALID_INPUT', 'cost_usd'],
    ['an unknown source', { ...call, source: 'fax' }, 422, 'INVALID_INPUT', 'source'],
    ['a malformed id', { ...call, id: 'req_x' }, 422, 'INVALID_INPUT', 'id'],
    [
      'an id of last month',
      { ...call, id: newId('request', Date.now() - 8 * 86_400_000) },
      422,
      'INVALID_INPUT',
      'id',
    ],
    [
      'an id of tomorrow',
      { ...call, id: newId('request', Date.now() + 86_400_000) },
      422,
      'INVALID_INPUT',
      'id',
    ],
    [
      'a tool call without a tool',
      { request_body: { type: 'mcp_tool_call' } },
      422,
      'INVALID_INPUT',
      'request_body.tool_name',
    ],
    [
      'a bottomless body',
      `{"request_body":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}`,
      422,
      'INVALID_INPUT',
      'request_body',
    ],
    ["another project's id", { ...call, project_id: newId('project') }, 403, 'OTHER_PROJECT', undefined],
  ])('refuses %s', async (_name, body, status, code, path) => {
    const answer = await log(body)
    expect([answer.status, answer.json['code']]).toEqual([status, code])
    expect(typeof answer.json['detail']).toBe('string')
    if (status === 422) {
      expect((answer.json['errors'] as { path: string }[]).map((error) => error.path)).toContain(path)
    }
  })

  test('refuses a record over BODY_MAX_BYTES with 413', async () => {
    const answer = await log({ request_body: { text: 'x'.repeat(10 * 1024 * 1024) } })
    expect([answer.status, answer.json['code']]).toEqual([413, 'BODY_TOO_LARGE'])
  })

  test('takes hostile member names and text in bodies as they are', async () => {
    const answer = await log(
      '{"request_body":{"__proto__":{"x":1},"model":"a\\u0000\\ud800b","constructor":null}}',
    )
    expect(answer.status).toBe(202)
    const record = (await recordsOf(project.projectId)).find(({ id }) => id === answer.json['id'])
    expect(record?.model).toBe('a\uFFFD\uFFFDb')
  })

  test('has the operator name the project', async () => {
    const asOperator = (body: unknown) => api.call('POST', '/internal/log', { operator: true, body })
    expect((await asOperator(call)).json['errors']).toEqual([
      { path: 'project_id', message: 'is required when the operator logs a call' },
    ])
    expect((await asOperator({ ...call, project_id: newId('project') })).status).toBe(422)
    expect((await asOperator({ ...call, project_id: project.projectId })).status).toBe(202)
    expect(operatorSecret.length).toBeGreaterThan(16)
  })

  test('keeps the content of zero-retention projects out of the topic that is kept', async () => {
    const silent = await api.createProject({ zero_content_retention: true })
    const { json } = await log({ request_body: { secret: 'S3CRET' }, response_body: { a: 1 } }, silent.key)
    const [kept] = await recordsOf(silent.projectId)
    expect(kept).toMatchObject({
      id: json['id'],
      request_body: null,
      response_body: null,
      zero_content_retention: true,
    })
    const [whole] = (await api.readTopic(topics.requestEphemeral)).filter(({ id }) => id === json['id'])
    const sealed = whole?.request_body ?? { codec: '', key_id: null, data: Buffer.alloc(0) }
    const identity = sealedIdentity(silent.projectId, String(json['id']), 'request_body')
    expect(sealer.open(sealed, identity).toString()).toBe('{"secret":"S3CRET"}')
  })

  test('takes a record whose bodies are erased: the row alone, and nothing that would be scored as if it were the call', async () => {
    const id = newId('request')
    const given = {
      id,
      bodies_erased: true,
      model: 'gpt-4o',
      prompt_tokens: 3,
      response_body: { a: 'S3CRET' },
    }
    expect((await log(given)).status).toBe(202)
    expect((await recordsOf(project.projectId)).find((logged) => logged.id === id)).toMatchObject({
      model: 'gpt-4o',
      prompt_tokens: 3,
      request_body: null,
      response_body: null,
      zero_content_retention: true,
    })
    expect((await api.readTopic(topics.requestEphemeral)).some((whole) => whole.id === id)).toBe(false)
  })
})

describe('POST /internal/log/batch', () => {
  const batch = (records: unknown, key = project.key) =>
    api.call('POST', '/internal/log/batch', {
      key,
      body: typeof records === 'string' ? records : { records },
    })

  test('answers for each record in order, the bad ones beside the good ones', async () => {
    const id = newId('request')
    const answer = await batch(
      `{"records": [{"id":"${id}","request_body":{"n":98765432109876543210}}, 7, {"request_body":{},"prompt_tokens":-1}]}`,
    )
    expect(answer.status).toBe(200)
    expect(answer.json['results']).toMatchObject([
      { id, status: 'queued' },
      { status_code: 422, code: 'INVALID_INPUT' },
      { status_code: 422, code: 'INVALID_INPUT', errors: [{ path: 'prompt_tokens' }] },
    ])
    const record = (await recordsOf(project.projectId)).find((logged) => logged.id === id)
    const sealed = record?.request_body ?? { codec: '', key_id: null, data: Buffer.alloc(0) }
    expect(sealer.open(sealed, sealedIdentity(project.projectId, id, 'request_body')).toString()).toBe(
      '{"n":98765432109876543210}',
    )
  })

  test('takes 1 to 1,000 records', async () => {
    expect((await batch([])).status).toBe(422)
    expect((await batch(Array.from({ length: 1001 }, () => call))).status).toBe(422)
    expect((await batch('{"records":{}}')).status).toBe(422)
    const bomb = `{"request_body":{"a":[${'{},'.repeat(600_000)}{}]}}`
    expect((await log(bomb)).json).toMatchObject({ code: 'INVALID_INPUT' })
    expect((await batch(`{"records":[${JSON.stringify(call)},{]}`)).status).toBe(400)
  })
})

describe('the quota of a tier', () => {
  test('is exact, counts an id once and an attack never, names the reset, and raises one alert', async () => {
    await api.pool.query(`update tiers set request_limit = 5 where tier = 'free'`)
    const free = await api.createProject({ tier: 'free' })
    const batch = (records: object[], caller: object = { key: free.key }) =>
      api.call('POST', '/internal/log/batch', { ...caller, body: { records } })
    const own = { ...call, project_id: free.projectId }
    const attack = { ...own, id: newId('request'), source: 'redteam' }
    expect((await batch([attack], { operator: true })).status).toBe(200)
    const ids = Array.from({ length: 8 }, () => newId('request'))
    const answers = await Promise.all(ids.map((id) => log({ ...call, id }, free.key)))
    const admitted = ids.filter((_id, index) => answers[index]?.status === 202)
    expect(admitted).toHaveLength(5)
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.json['code']).toBe('INGEST_QUOTA_EXCEEDED')
    expect(refused?.json['detail']).toMatch(/5 requests for [A-Z][a-z]+ \d{4}; the period resets at/)
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)

    expect((await log({ ...call, id: admitted[0] }, free.key)).status).toBe(202)
    const mixed = await batch([{ ...call, id: admitted[1] }, call])
    expect(mixed.json['results']).toMatchObject([{ status: 'queued' }, { status_code: 429 }])
    expect((await batch([call, call])).status).toBe(429)

    const besideAttack = await batch([attack, own], { operator: true })
    expect(besideAttack.json['results']).toMatchObject([{ status: 'queued' }, { status_code: 429 }])

    const alerts = `select data from event_outbox where event = 'usage_alert'`
    const { rows } = await api.pool.query<{ data: Buffer }>(alerts)
    expect(rows.map(({ data }) => JSON.parse(data.toString()) as unknown)).toMatchObject([
      { alert_type: 'quota_exceeded', tier: 'free', limit: 5, current_count: 5 },
    ])
    const stored = new Set((await recordsOf(free.projectId)).map(({ id }) => id))
    expect(stored).toEqual(new Set([...admitted, attack.id]))
  })
})
