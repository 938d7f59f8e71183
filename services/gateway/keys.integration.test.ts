import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { topics } from '#schemas/topics.ts'
import { useKeyLimits, type PostedCall } from '#tests/support/key-limits-fixture.ts'
import { until } from '#tests/support/until.ts'

const world = useKeyLimits()
const { makeKey, describeKey, post, recordOf } = world

const chat = (model: unknown, more: object = {}) =>
  JSON.stringify({ model, messages: [{ role: 'user', content: 'ASKED' }], ...more })
const codeOf = ({ status, json: { error } }: PostedCall) => [status, error?.code]

describe('a list of models', () => {
  test('is kept, whatever way the request names another', async () => {
    const { key } = await makeKey({ models: ['fixed', 'gpt-4o-*'] })
    const before = world.upstream.requests.length
    const allowed = [
      await post(key, chat('fixed')),
      await post(key, chat('gpt-4o-mini')),
      await post(key, chat('fixed'), { headers: { 'transfer-encoding': 'chunked' } }),
      await post(key, gzipSync(chat('fixed')), { headers: { 'content-encoding': 'gzip' } }),
    ].map(codeOf)
    expect(allowed.map(([status]) => status)).toEqual([200, 200, 200, 200])
    const refused = [
      await post(key, chat('gpt-4')),
      await post(key, `{"model":"gpt-4",${chat('fixed').slice(1)}`),
      await post(key, chat('fixed', { MODEL: 'gpt-4' })),
      await post(key, chat('fixed', { models: ['gpt-4'] })),
      await post(key, chat('fixed'), { path: '/openai/deployments/gpt-4/chat/completions' }),
      await post(key, chat('fixed'), { path: '/v1beta/models/gpt-4:generateContent' }),
      await post(key, gzipSync(chat('gpt-4')), { headers: { 'content-encoding': 'gzip' } }),
    ]
    expect(refused.map(codeOf)).toEqual(Array(7).fill([403, 'model_not_allowed']))
    expect(refused[0]?.json.error?.message).toBe(
      'This key may not call the model "gpt-4". It may call: fixed, gpt-4o-*.',
    )
    const unknown = [
      await post(key, '{}'),
      await post(key, 'no JSON'),
      await post(key, chat(7)),
      await post(key, 'x', { headers: { 'content-encoding': 'compress' } }),
    ]
    expect(unknown.map(codeOf)).toEqual(Array(4).fill([403, 'model_unknown']))
    expect(world.upstream.requests).toHaveLength(before + 4)
  })

  test('passes the bytes of a long body on as they came', async () => {
    const { key } = await makeKey({ models: ['fixed'] })
    const body = chat('fixed', { padding: 'x'.repeat(700_000), big: 0 }).replace(
      '"big":0',
      '"big" : 12345678901234567890',
    )
    expect((await post(key, body)).status).toBe(200)
    expect(world.upstream.requests.at(-1)?.body.equals(Buffer.from(body))).toBe(true)
  })

  test('shortens the provider’s list; another key gets it as it is', async () => {
    const list = '{"object":"list", "data":[{"id":"fixed"},{"id":"gpt-4"},{"id":"gpt-4o-mini"}]}'
    world.answer('200 OK', list)
    const get = { method: 'GET', path: '/v1/models' }
    const short = await post((await makeKey({ models: ['gpt-4o-*'] })).key, '', get)
    expect([short.status, short.json]).toEqual([200, { object: 'list', data: [{ id: 'gpt-4o-mini' }] }])
    const { key } = await makeKey({})
    const whole = await fetch(`${world.gateway.url}/v1/models`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(await whole.text()).toBe(list)
  })
})

test('a rate limit refuses what is beyond it, with the time to wait', async () => {
  const { key } = await makeKey({ rate_limit_per_minute: 2 })
  const answers = [await post(key, chat('a')), await post(key, chat('b')), await post(key, chat('c'))]
  expect(answers.map(codeOf)).toEqual([
    [200, undefined],
    [200, undefined],
    [429, 'key_rate_limit_exceeded'],
  ])
  expect(Number(answers[2]?.headers['retry-after'])).toBeGreaterThan(20)
})

test('a call is recorded with the user and team of its key, without bodies, or only counted', async () => {
  const named = await makeKey({ user: 'ada', team: 'search' })
  const first = await post(named.key, chat('fixed'))
  expect(await recordOf(first.id)).toMatchObject({ user_id: 'ada', metadata: '{"team":"search"}' })
  const own = { 'x-service-user-id': 'bob', 'x-service-metadata': '{"env":"ci"}' }
  const second = await recordOf((await post(named.key, chat('fixed'), { headers: own })).id)
  expect([second?.user_id, JSON.parse(second?.metadata ?? '')]).toEqual([
    'bob',
    { team: 'search', env: 'ci' },
  ])
  const bare = await recordOf((await post((await makeKey({ capture: 'metadata' })).key, chat('fixed'))).id)
  expect(bare).toMatchObject({
    ...{ model: 'fixed', status_code: 200, prompt_tokens: 10, completion_tokens: 5, cost_usd: 0.07 },
    ...{ request_body: null, response_body: null, preview: null },
  })
  const silent = await makeKey({ capture: 'none' })
  const left = await post(silent.key, chat('fixed'))
  const last = await post(named.key, chat('fixed'))
  await recordOf(last.id)
  expect((await world.api.readTopic(topics.requestLogged)).some(({ id }) => id === left.id)).toBe(false)
  expect(
    await world.gateway.metrics.registry.getSingleMetricAsString('sluice_gateway_left_out_total'),
  ).toContain('{reason="key_capture_none"} 1')
  const counted = async () => {
    const { rows } = await world.api.pool.query<{ left_out: object }>(
      `select left_out from gateways where left_out <> '{}'`,
    )
    return rows.map((row) => row.left_out)
  }
  await until(async () => (await counted()).length > 0)
  expect(await counted()).toEqual([{ [world.projectId]: { key_capture_none: 1 } }])
})

describe('a monthly budget', () => {
  test('of 2 dollars admits exactly 28 of 200 calls at once, over three processes', async () => {
    const { id, key } = await makeKey({ monthly_budget_usd: 2 })
    const before = world.upstream.requests.length
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, at) =>
        post(key, chat('fixed'), { through: at % 3 === 0 ? world.gateway.url : world.workersUrl }),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    expect([200, 429].map((wanted) => statuses.filter((status) => status === wanted).length)).toEqual([
      28, 172,
    ])
    expect(world.upstream.requests).toHaveLength(before + 28)
    expect(codeOf(answers.find(({ status }) => status === 429) as PostedCall)).toEqual([
      429,
      'key_budget_exceeded',
    ])
    await until(async () => (await describeKey(id))['reserved_usd'] === 0)
    expect(await describeKey(id)).toMatchObject({ spent_usd: 1.96, reserved_usd: 0 })
    const refused = async () => {
      const { rows } = await world.api.pool.query<{ leases: number; refused: number }>(
        `select count(*)::integer as leases, sum(refused)::integer as refused from key_leases l
         join api_keys k on k.id = l.key_id where k.monthly_budget_usd = 2`,
      )
      return rows[0]
    }
    await until(async () => (await refused())?.refused === 172)
    expect(await refused()).toEqual({ leases: 3, refused: 172 })
    const alerts = await world.api.pool.query(`select from event_outbox where event = 'usage_alert'`)
    expect(alerts.rowCount).toBe(1)
  })

  test('is charged what a call cost, not what it might have; nothing for a failed one', async () => {
    const { id, key } = await makeKey({ monthly_budget_usd: 1 })
    expect((await post(key, chat('by-token', { max_tokens: 500 }))).status).toBe(200)
    await until(async () => (await describeKey(id))['spent_usd'] === 0.015)
    world.answer('500 Sorry', '{}')
    expect((await post(key, chat('by-token', { max_tokens: 500 }))).status).toBe(500)
    await until(async () => (await describeKey(id))['reserved_usd'] === 0)
    expect(await describeKey(id)).toMatchObject({ spent_usd: 0.015 })
    expect(codeOf(await post(key, chat('by-token', { max_tokens: 5_000 })))).toEqual([
      429,
      'key_budget_exceeded',
    ])
  })

  test('refuses a model without a price', async () => {
    const { key } = await makeKey({ monthly_budget_usd: 1 })
    expect(codeOf(await post(key, chat('no-such-model')))).toEqual([403, 'model_without_price'])
  })

  test.each([
    ['stop', [503, 'budget_check_unavailable']],
    ['allow', [200, undefined]],
  ])('that cannot be checked means %s, as the key says', async (choice, expected) => {
    const { key } = await makeKey({ monthly_budget_usd: 1, when_unknown: choice })
    expect((await post(key, chat('fixed'))).status).toBe(200)
    await world.api.pool.query('alter table key_leases rename to key_leases_away')
    // Five calls do not fit into the slice of one.
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(key, chat('fixed'))))
    await world.api.pool.query('alter table key_leases_away rename to key_leases')
    expect(codeOf(answers.at(-1) as PostedCall)).toEqual(expected)
  })
})
