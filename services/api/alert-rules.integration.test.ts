import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { createRollupStore } from '#services/sink/stores/rollup-store.ts'
import { callRollups, changesLane, scoreRollups } from '#services/sink/stores/rollup-tables.ts'
import { addTo, createTally } from '#services/sink/steps/tally-rollups.ts'
import { idToUuid, liveRunId } from '#schemas/ids.ts'
import { signInPerson } from '#tests/support/sign-in-people.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

jest.setTimeout(300_000)

const hourMs = 3_600_000
let api: RunningApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const body = {
  ...{ name: 'Bot fails', metric: 'failed_share', filter: { agent_name: 'bot' } },
  ...{ window_minutes: 15, warning_threshold: 0.1, alert_threshold: 0.2 },
}

test('a rule is made, listed with its state, changed and deleted, and audited', async () => {
  const { projectId, key } = await api.createProject()
  const made = await api.call('POST', '/api/alert-rules', { key, body })
  expect(made.status).toBe(201)
  const defaults = {
    enabled: true,
    direction: 'above',
    for_minutes: 0,
    cooldown_minutes: 60,
    compare: 'none',
  }
  expect(made.json).toMatchObject({ ...body, ...defaults, project_id: projectId, is_built_in: false })
  const id = String(made.json['id'])
  await api.pool.query(
    `update alert_states set status = 'alert', value = 0.5, told_level = 'alert', told_since = now(), warning_since = now(),
       evaluated_until = now(), due_at = now() + interval '1 minute' where rule_id = $1`,
    [idToUuid(id)],
  )
  const listed = await api.call('GET', '/api/alert-rules', { key })
  expect(listed.json['items']).toMatchObject([
    { id, state: { status: 'alert', value: 0.5, compared_with: null, fires_since: expect.any(String) } },
  ])
  const changed = await api.call('PATCH', `/api/alert-rules/${id}`, { key, body: { alert_threshold: 0.6 } })
  expect(changed.json).toMatchObject({ ...body, alert_threshold: 0.6, state: { status: 'alert' } })
  const { rows } = await api.pool.query(
    'select warning_since, told_level, due_at <= now() as due from alert_states where rule_id = $1',
    [idToUuid(id)],
  )
  expect(rows).toEqual([{ warning_since: null, told_level: 'alert', due: true }])
  await api.pool.query(`update alert_states set due_at = now() - interval '6 minutes' where rule_id = $1`, [
    idToUuid(id),
  ])
  const late = await api.call('GET', `/api/alert-rules/${id}`, { key })
  expect(late.json).toMatchObject({ state: { status: 'late', value: 0.5 } })
  expect((await api.call('DELETE', `/api/alert-rules/${id}`, { key })).status).toBe(204)
  expect((await api.call('DELETE', `/api/alert-rules/${id}`, { key })).status).toBe(404)
  const audit = await api.pool.query<{ action: string }>(
    `select action from audit_log where subject = $1 order by at, id`,
    [id],
  )
  expect(audit.rows.map(({ action }) => action)).toEqual([
    'alert_rule.created',
    'alert_rule.changed',
    'alert_rule.deleted',
  ])
})

test.each<[fault: string, changes: object, path: string]>([
  ['a window that is too short', { window_minutes: 4 }, 'window_minutes'],
  ['a window that is too long', { window_minutes: 1_441 }, 'window_minutes'],
  ['a warning worse than the alert', { warning_threshold: 0.3 }, 'warning_threshold'],
  ['a warning worse than the alert, below', { direction: 'below' }, 'warning_threshold'],
  ['a filter that the metric has not', { filter: { severity: 'high' } }, 'filter.severity'],
  ['an unknown filter', { filter: { tool_name: 'x' } }, 'filter.tool_name'],
  [
    'a scorer with an agent',
    { metric: 'unsafe_count', filter: { scorer_name: 'x', model: 'y' } },
    'filter.model',
  ],
  ['an unknown field', { threshold: 1 }, 'threshold'],
])('%s is refused', async (_fault, changes, path) => {
  const { key } = await api.createProject()
  for (const url of ['/api/alert-rules', '/api/alert-rules/preview']) {
    const { name, ...rule } = body
    const named = url.endsWith('preview') ? {} : { name }
    const answer = await api.call('POST', url, { key, body: { ...named, ...rule, ...changes } })
    expect(answer).toMatchObject({ status: 422, json: { errors: [{ path }] } })
  }
})

test('a change is checked together with what stays', async () => {
  const { key } = await api.createProject()
  const { json } = await api.call('POST', '/api/alert-rules', { key, body })
  const change = (changes: object) =>
    api.call('PATCH', `/api/alert-rules/${String(json['id'])}`, { key, body: changes })
  expect(await change({ alert_threshold: 0.1 })).toMatchObject({ status: 422 })
  expect(await change({ metric: 'delivery_failures' })).toMatchObject({ status: 422 })
  expect(await change({ metric: 'delivery_failures', filter: {}, warning_threshold: null })).toMatchObject({
    status: 200,
    json: { filter: {}, warning_threshold: null, window_minutes: 15 },
  })
})

test('a project has fifty rules; built-in ones are not counted and stay; viewers read', async () => {
  const { projectId, key } = await api.createProject()
  const create = () => api.call('POST', '/api/alert-rules', { key, body })
  const first = String((await create()).json['id'])
  await api.pool.query('update alert_rules set is_built_in = true where id = $1', [idToUuid(first)])
  for (let made = 0; made < 50; made++) expect((await create()).status).toBe(201)
  expect(await create()).toMatchObject({ status: 422, json: { errors: [{ path: 'project_id' }] } })
  expect((await api.call('DELETE', `/api/alert-rules/${first}`, { key })).status).toBe(422)
  const viewer = await signInPerson(api, 'viewer', [projectId])
  expect((await viewer.call('GET', `/api/alert-rules/${first}`)).status).toBe(200)
  expect((await viewer.call('POST', '/api/alert-rules', { body })).status).toBe(403)
  const other = await api.createProject()
  expect((await api.call('GET', `/api/alert-rules/${first}`, { key: other.key })).status).toBe(404)
  const stolen = { key: other.key, body: { enabled: false } }
  expect((await api.call('PATCH', `/api/alert-rules/${first}`, stolen)).status).toBe(404)
  expect((await api.call('DELETE', `/api/alert-rules/${first}`, { key: other.key })).status).toBe(404)
  expect((await api.call('GET', '/api/alert-rules', { key: other.key })).json['items']).toEqual([])
})

/** Counts of 31 days by the hour, as the sink writes them: pseudo-random, with hours without calls. */
async function fillHours(projectId: string, endMs: number): Promise<void> {
  const [calls, scores] = [createTally(), createTally()]
  let seed = 20_261_129
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((seed / 2 ** 31) * below)
  }
  for (let atMs = endMs - 31 * 24 * hourMs; atMs < endMs; atMs += hourMs) {
    for (const agent_name of ['bot', 'other']) {
      const total = random(3) === 0 ? 0 : random(50)
      if (total === 0) continue
      const sums = calls.sumsOf(idToUuid(projectId), atMs, {
        source: 'api',
        model: 'm',
        provider: 'p',
        agent_name,
      })
      addTo(sums, 'calls', total)
      addTo(sums, 'failed', random(total))
    }
    const run = { run_id: idToUuid(liveRunId(projectId)), source: 'api', scorer_name: 's' }
    const unsafe = { ...run, score_label: 'unsafe', severity: 'high' }
    addTo(scores.sumsOf(idToUuid(projectId), atMs, unsafe), 'scores', 1 + random(9))
  }
  const client = await api.pool.connect()
  await createRollupStore().add(client, callRollups, changesLane, calls.rows())
  await createRollupStore().add(client, scoreRollups, changesLane, scores.rows())
  client.release()
}

/** Hours `at` with their value, as intervals of consecutive ones that are above the threshold. */
const recountSql = (valueSql: string) => `
  with hours as (select generate_series($2::timestamptz, $3::timestamptz - interval '1 hour', '1 hour') as hour),
  judged as (select hour + interval '1 hour' as at, (${valueSql}) as value from hours),
  islands as (select at, value, at - row_number() over (order by at) * interval '1 hour' as island from judged where value > $4)
  select min(at) as start, nullif(max(at) + interval '1 hour', $3::timestamptz + interval '1 hour') as end, max(value)::float8 as worst_value
  from islands group by island order by 1`

test.each<[name: string, rule: object, valueSql: string]>([
  [
    'a share of one agent',
    { metric: 'failed_share', filter: { agent_name: 'bot' }, window_minutes: 60, alert_threshold: 0.5 },
    `select sum(failed) / nullif(sum(calls), 0) from call_rollups r where project_id = $1 and r.hour = hours.hour and agent_name = 'bot'`,
  ],
  [
    'counts over a longer window',
    { metric: 'calls', window_minutes: 180, alert_threshold: 110 },
    `select sum(calls) from call_rollups r where project_id = $1 and r.hour between hours.hour - interval '2 hours' and hours.hour`,
  ],
  [
    'scores of one scorer, scaled to fifteen minutes',
    {
      metric: 'unsafe_count',
      filter: { scorer_name: 's', severity: 'high' },
      window_minutes: 15,
      alert_threshold: 1.8,
    },
    `select sum(scores) / 4 from score_rollups r where project_id = $1 and r.hour = hours.hour and scorer_name = 's'`,
  ],
])('the dry run says what SQL counts: %s', async (_name, rule, valueSql) => {
  const { projectId, key } = await api.createProject()
  const endMs = Math.floor(Date.now() / hourMs) * hourMs
  await fillHours(projectId, endMs)
  const answer = await api.call('POST', '/api/alert-rules/preview', {
    key,
    body: { ...rule, cooldown_minutes: 0 },
  })
  expect(answer.status).toBe(200)
  const { start, end, hours, intervals, fired } = answer.json as {
    [name: string]: unknown
    start: string
    end: string
    intervals: { start: string; end: string | null; worst_value: number; level: string; notified: boolean }[]
  }
  const { rows } = await api.pool.query<{ start: Date; end: Date | null; worst_value: number }>(
    recountSql(valueSql),
    [idToUuid(projectId), start, end, (rule as { alert_threshold: number }).alert_threshold],
  )
  expect(rows.length).toBeGreaterThan(20)
  const dry = intervals.map((one) => ({ ...one, worst_value: Number(one.worst_value.toFixed(9)) }))
  expect(dry).toEqual(
    rows.map(({ worst_value, ...row }) => ({
      ...{ level: 'alert', notified: true, worst_value: Number(worst_value.toFixed(9)) },
      ...{ start: row.start.toISOString(), end: row.end?.toISOString() ?? null },
    })),
  )
  expect([hours, fired]).toEqual([720, rows.length])
  // Another project's counts are not read.
  const other = await api.createProject()
  const theirs = await api.call('POST', '/api/alert-rules/preview', { key: other.key, body: rule })
  expect(theirs.json).toMatchObject({ fired: 0, intervals: [] })
})
