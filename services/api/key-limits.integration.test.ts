import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { newId } from '#schemas/ids.ts'
import { monthOf } from '#schemas/picodollars.ts'
import { topics } from '#schemas/topics.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { until } from '#tests/support/until.ts'

let api: RunningApi
let projectId: string
beforeAll(async () => {
  api = await startApi()
  ;({ projectId } = await api.createProject())
})
afterAll(() => api.stop())

const operator = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { operator: true, ...(body === undefined ? {} : { body }) })
const makeKey = async (body: object) =>
  (await operator('POST', `/api/projects/${projectId}/keys`, { name: 'Ada', ...body })).json
const limits = {
  ...{ user: 'ada', team: 'search', models: ['gpt-4o-mini', 'claude-*'], capture: 'metadata' },
  ...{ rate_limit_per_minute: 30, monthly_budget_usd: 12.5, when_unknown: 'allow' },
}

describe('what a key carries', () => {
  test('is given at creation, read, listed, changed, resolved, and audited', async () => {
    const made = await makeKey(limits)
    expect(made).toMatchObject({ ...limits, spent_usd: 0, reserved_usd: 0 })
    const path = `/api/projects/${projectId}/keys/${String(made['id'])}`
    const { key, ...shown } = made
    expect((await operator('GET', path)).json).toEqual(shown)
    const { items } = (await operator('GET', `/api/projects/${projectId}/keys`)).json
    expect((items as object[])[0]).toEqual(shown)
    const hash = createHash('sha256').update(String(key).slice(-48)).digest('hex')
    const resolve = async () => (await operator('POST', '/internal/keys/resolve', { key_sha256: hash })).json
    expect(await resolve()).toMatchObject({ key_id: made['id'], ...limits })
    const changed = await operator('PATCH', path, { models: null, monthly_budget_usd: 20, name: 'Ada L.' })
    const after = { ...limits, models: null, monthly_budget_usd: 20 }
    expect(changed.json).toEqual({ ...shown, ...after, name: 'Ada L.' })
    expect(await resolve()).toMatchObject(after)
    const audit = (await operator('GET', '/api/audit')).json['items'] as object[]
    expect(audit).toContainEqual(
      expect.objectContaining({
        action: 'key.changed',
        subject: made['id'],
        detail: {
          ...{ models: null, monthly_budget_usd: 20, name: 'Ada L.' },
          before: { models: limits.models, monthly_budget_usd: 12.5, name: 'Ada' },
        },
      }),
    )
  })

  test.each([
    [{ models: ['a*b'] }, 'models.0'],
    [{ capture: 'some' }, 'capture'],
    [{ rate_limit_per_minute: 0 }, 'rate_limit_per_minute'],
    [{ monthly_budget_usd: -1 }, 'monthly_budget_usd'],
    [{ user: '' }, 'user'],
    [{ when_unknown: 'ask' }, 'when_unknown'],
  ])('refuses %j', async (body, path) => {
    const { status, json } = await operator('POST', `/api/projects/${projectId}/keys`, { name: 'x', ...body })
    expect([status, (json['errors'] as { path: string }[]).map((error) => error.path)]).toEqual([422, [path]])
  })

  test('another project has no such key', async () => {
    const made = await makeKey({})
    const other = await api.createProject()
    const path = `/api/projects/${other.projectId}/keys/${String(made['id'])}`
    expect((await operator('GET', path)).status).toBe(404)
    expect((await operator('PATCH', path, { name: 'stolen' })).status).toBe(404)
  })

  test('is recorded with what it logs: its user and team, without bodies, or not at all', async () => {
    const log = async (more: object, body: object = {}) => {
      const { key } = await makeKey(more)
      const record = { request_body: { messages: [{ role: 'user', content: 'WORDS' }] }, ...body }
      return (await api.call('POST', '/internal/log', { key: String(key), body: record })).json
    }
    const own = { user_id: 'bob', metadata: { team: 'ads', env: 'ci' } }
    const said = [
      await log({ user: 'ada', team: 'search' }),
      await log({ user: 'ada', team: 'search' }, own),
      await log({ capture: 'metadata' }, { model: 'm', error: 'WORDS', prompt_tokens: 3 }),
      await log({ capture: 'none' }),
    ]
    expect(said.map(({ status }) => status)).toEqual(['queued', 'queued', 'queued', 'left_out'])
    const ids = said.map(({ id }) => id)
    const mine = async () => {
      const calls = await api.readTopic(topics.requestLogged)
      return calls.filter(({ id }) => ids.includes(id))
    }
    await until(async () => (await mine()).length === 3)
    const calls = new Map((await mine()).map((call) => [call.id, call]))
    const [first, second, third, last] = ids.map((id) => calls.get(String(id)))
    expect(first).toMatchObject({ user_id: 'ada', metadata: '{"team":"search"}' })
    expect([second?.user_id, JSON.parse(second?.metadata ?? '{}')]).toEqual(['bob', own.metadata])
    expect(third).toMatchObject({ model: 'm', prompt_tokens: 3, request_body: null, response_body: null })
    expect(JSON.stringify(third)).not.toContain('WORDS')
    expect(last).toBeUndefined()
  })
})

describe('a lease', () => {
  const nothing = {
    spent: '0',
    under_way: '0',
    held: '0',
    minimum: '0',
    wanted: '0',
    waiting: '0',
    refused: 0,
  }
  const lease = (keyId: unknown, leaseId: string, sequence: number, more: object) =>
    operator('POST', '/internal/keys/lease', {
      ...nothing,
      ...{ key_id: keyId, lease_id: leaseId, sequence, month: monthOf(Date.now()), ...more },
    })

  test('of two processes at once never holds more than the budget, and shows in the list', async () => {
    const { id } = await makeKey({ monthly_budget_usd: 1 })
    const dollar = 1_000_000_000_000n
    const wanted = { wanted: String((dollar * 3n) / 4n) }
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => lease(id, randomUUID(), 1, wanted).then(({ json }) => json)),
    )
    const granted = answers.map((answer) => BigInt(String(answer['granted'])))
    expect(granted.reduce((sum, each) => sum + each, 0n)).toBe(dollar)
    expect(answers.every((answer) => answer['budget_usd'] === 1)).toBe(true)
    const shown = await operator('GET', `/api/projects/${projectId}/keys/${String(id)}`)
    expect(shown.json).toMatchObject({ spent_usd: 0, reserved_usd: 1 })
  })

  test('that reports twice with one number changes once; spending beyond the budget shows', async () => {
    const { id } = await makeKey({ monthly_budget_usd: 1 })
    const leaseId = randomUUID()
    const first = await lease(id, leaseId, 1, { wanted: '250000000000' })
    expect((await lease(id, leaseId, 1, { wanted: '250000000000' })).json).toMatchObject({
      granted: first.json['granted'],
      available: '750000000000',
    })
    const over = await lease(id, leaseId, 2, { spent: '1250000000000' })
    expect(over.json).toMatchObject({ spent_usd: 1.25, available: '0', reserved: '0' })
    const shown = await operator('GET', `/api/projects/${projectId}/keys/${String(id)}`)
    expect(shown.json).toMatchObject({ spent_usd: 1.25, reserved_usd: 0 })
  })

  test('that has ended comes back, but for what it said', async () => {
    const { id } = await makeKey({ monthly_budget_usd: 1 })
    await lease(id, randomUUID(), 1, { under_way: '100000000000', wanted: '900000000000' })
    await api.pool.query(`update key_leases set expires_at = now() - interval '1 second'`)
    const shown = await operator('GET', `/api/projects/${projectId}/keys/${String(id)}`)
    expect(shown.json).toMatchObject({ reserved_usd: 0.1 })
    const next = await lease(id, randomUUID(), 1, { wanted: '1000000000000' })
    expect(next.json).toMatchObject({ granted: '900000000000' })
  })

  test('raises usage_alert with the first refused call of a month, and again for another budget', async () => {
    const { id } = await makeKey({ name: 'Grace', monthly_budget_usd: 1 })
    const leaseId = randomUUID()
    const alerts = async () =>
      (
        await api.pool.query<{ data: string }>(
          `select convert_from(data, 'utf8') as data from event_outbox where event = 'usage_alert' order by created_at`,
        )
      ).rows.map(({ data }) => JSON.parse(data) as object)
    await lease(id, leaseId, 1, { spent: '999000000000' })
    expect(await alerts()).toEqual([])
    await lease(id, leaseId, 2, { spent: '999000000000', refused: 1 })
    await lease(id, randomUUID(), 1, { refused: 5 })
    const alert = { alert_type: 'key_budget_exceeded', key_id: id, key_name: 'Grace', current_usd: 0.999 }
    expect(await alerts()).toMatchObject([{ ...alert, threshold_usd: 1 }])
    await operator('PATCH', `/api/projects/${projectId}/keys/${String(id)}`, { monthly_budget_usd: 2 })
    await lease(id, leaseId, 3, { spent: '1999000000000', refused: 2 })
    expect(await alerts()).toMatchObject([{}, { threshold_usd: 2, current_usd: 1.999 }])
  })

  test.each([
    ['an unknown key', () => Promise.resolve(newId('key')), {}, 404, 'KEY_WITHOUT_BUDGET'],
    ['a key without a budget', async () => (await makeKey({}))['id'], {}, 404, 'KEY_WITHOUT_BUDGET'],
    ['a month to come', async () => (await makeKey({}))['id'], { month: '2999-01-01' }, 422, 'INVALID_INPUT'],
    ['an amount with a sign', async () => (await makeKey({}))['id'], { spent: '-1' }, 422, 'INVALID_INPUT'],
  ])('of %s is refused', async (_name, keyOf, more, status, code) => {
    const answer = await lease(await keyOf(), randomUUID(), 1, more)
    expect([answer.status, answer.json['code']]).toEqual([status, code])
  })

  test('is for the operator alone', async () => {
    const { id, key } = await makeKey({ monthly_budget_usd: 1 })
    const body = { ...nothing, key_id: id, lease_id: randomUUID(), sequence: 1, month: monthOf(Date.now()) }
    const answer = await api.call('POST', '/internal/keys/lease', { key: String(key), body })
    expect([answer.status, answer.json['code']]).toEqual([403, 'OPERATOR_ONLY'])
  })
})
