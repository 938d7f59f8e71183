import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Client, escapeIdentifier } from 'pg'
import { createSealer } from '#runtime/sealing.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { createProjectStore } from './stores/project-store.ts'

const dayMs = 86_400_000
let api: RunningApi

beforeAll(async () => {
  api = await startApi(inKolkata)
})
afterAll(() => api.stop())

/** Hours start at the half hour there and days at 18:30 UTC, which exposes any code that does not say UTC. */
async function inKolkata(databaseUrl: string): Promise<Record<string, string>> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ name: string }>('select current_database() as name')
  await client.query(`alter database ${escapeIdentifier(rows[0]?.name ?? '')} set timezone = 'Asia/Kolkata'`)
  await client.end()
  return {}
}

test("what the judge has cost is told to the project that pays, and to nobody else's key", async () => {
  const { projectId, key } = await api.createProject({ judge_usd_per_period: 2.5 })
  const other = await api.createProject()
  const reserve = (id: string, usd: number) =>
    api.pool.query(`select reserve_judge_usd($1, $2, $3, null, interval '1 hour', now())`, [
      id,
      idToUuid(projectId),
      usd,
    ])
  const [first, second] = [crypto.randomUUID(), crypto.randomUUID()]
  await reserve(first, 0.5)
  await reserve(second, 0.25)
  await api.pool.query('select settle_judge_usd($1, 0.1, 700, 40, $2::text[])', [
    first,
    ['content_safety', 'pii_detection'],
  ])
  const half = { spent_usd: 0.05, requests: 1 }
  const by_scorer = [
    { scorer_name: 'content_safety', ...half },
    { scorer_name: 'pii_detection', ...half },
  ]
  const spend = { spent_usd: 0.1, reserved_usd: 0.25, requests: 1, prompt_tokens: 700, completion_tokens: 40 }
  await api.pool.query(
    `insert into judge_spend_by_scorer (project_id, period_start, scorer_name, spent_usd, calls)
     select project_id, period_start - interval '1 month', 'of the period before', 9, 9 from subscriptions where project_id = $1`,
    [idToUuid(projectId)],
  )
  const { json } = await api.call('GET', '/api/billing/judge-spend', { key })
  expect(json).toMatchObject({ project_id: projectId, cap_usd: 2.5, ...spend, by_scorer })
  expect((await api.call('GET', '/api/billing/judge-spend', { key: other.key })).json).toMatchObject({
    cap_usd: null,
    spent_usd: 0,
    requests: 0,
    by_scorer: [],
  })
})

test('what it would cost to score the last quarter of an hour again is told, wherever the hours of Postgres begin', async () => {
  const { projectId } = await api.createProject()
  const hourMs = Date.now() - (Date.now() % 3_600_000)
  const [start, end] = [hourMs + 45 * 60_000, hourMs + 60 * 60_000]
  const shared = newId('request', start + 1_000)
  const other = await api.createProject()
  const calls = [start - 40 * dayMs, start, end].map((atMs) => ({ projectId, id: newId('request', atMs) }))
  for (const call of [...calls, { projectId, id: shared }, { projectId: other.projectId, id: shared }])
    await seedRequest(api.pool, createSealer([]), call)
  await api.pool.query('delete from llm_request_bodies where project_id = $1', [idToUuid(projectId)])
  await api.pool.query(
    `insert into judge_spend (project_id, period_start, period_reset_at, spent_usd)
     select project_id, period_start - interval '1 month', period_start, 9 from subscriptions where project_id = $1`,
    [idToUuid(projectId)],
  )
  const id = crypto.randomUUID()
  await api.pool.query(`select reserve_judge_usd($1, $2, 0.5, null, interval '1 hour', now())`, [
    id,
    idToUuid(projectId),
  ])
  const range = { start: new Date(start).toISOString(), end: new Date(end).toISOString() }
  const ask = async () => {
    const body = { project_id: projectId, ...range, dry_run: true }
    return (await api.call('POST', '/api/score-runs', { operator: true, body })).json
  }
  expect(await ask()).toMatchObject({ estimated_judge_usd: null })
  await api.pool.query(`select settle_judge_usd($1, 0.75, 700, 40, '{content_safety}')`, [id])
  // Two of the period's three calls; none of another project or from before.
  const estimate = { calls: 2, calls_without_bodies: 2, estimated_judge_usd: 0.5 }
  expect(await ask()).toMatchObject({ run: null, ...estimate })
})

test('a project that an API makes whose clock is years ahead is there, and in its period, by the clock of Postgres', async () => {
  const settings = {
    ...{
      name: 'ahead',
      tier: 'free' as const,
      zero_content_retention: false,
      mask: false,
      retention_days: null,
    },
    metadata_keys: [],
    ...{ cost_alert_usd: null, quota_warning_percent: null, judge_mode: 'always' as const },
    ...{ judge_usd_per_period: null, sampling: {} },
  }
  const by = { kind: 'operator' as const }
  const ahead = Date.UTC(2038, 5, 15)
  const project = await createProjectStore(api.pool).create(by, settings, ahead)
  const { rows } = await api.pool.query<Record<string, unknown>>(
    `select s.period_start <= now() and now() < s.period_reset_at as is_now, s.period_anchor = s.period_start as is_anchored,
       to_char(s.period_start at time zone 'UTC', 'DD HH24:MI:SS') as begins, p.created_at
     from subscriptions s join projects p on p.id = s.project_id where s.project_id = $1`,
    [idToUuid(project.id)],
  )
  const [{ created_at: createdAt, ...period } = {}] = rows
  expect(period).toEqual({ is_now: true, is_anchored: true, begins: '01 00:00:00' })
  expect((createdAt as Date).toISOString()).toBe(project.created_at)
  expect(Date.parse(project.created_at)).toBeLessThan(ahead)
})
