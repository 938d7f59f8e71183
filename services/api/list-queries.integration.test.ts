import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { inTransaction } from '#runtime/postgres.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { currentRoute } from '#http/route.ts'
import { claimUnscored } from '#services/sink/stores/unscored-store.ts'
import { many, sampleCall, sampleScoredCall } from '#services/sink/testing/sample-records.ts'
import { bodyExamples } from './http/body-examples.ts'
import { filtersOf } from '#tests/support/list-filters.ts'
import { seedScorer } from '#tests/support/seed-scorer.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'

const atMost = 3
const day = 86_400_000
const now = Date.now()
let api: RunningApi
let [webhookId, redteamRunId, scorerId] = ['', '', '']
/** Newest first. */
let calls: LoggedCall[]
let project: { projectId: string; key: string }
const statements: { route: string; text: string; values: unknown[] }[] = []
/** Days whose partitions the watched transactions locked until their end. */
let lockedDays: Set<string> | undefined

beforeAll(async () => {
  api = await startApi()
  project = await api.createProject()
  const storage = createCallStorage(api.pool)
  // More than a metadata search looks at, and older than what a list reads first: the slowest page.
  calls = many(1_050, (index) =>
    sampleCall(project.projectId, {
      id: newId('request', now - 4 * day - index * 1_000),
      session_id: `session-${index % 3}`,
      metadata: JSON.stringify({ team: 'a', n: index }),
    }),
  )
  await storage.calls(calls)
  await storage.scores(calls.slice(0, 2).map((call) => sampleScoredCall(call)))
  const body = bodyExamples['post /api/v1/webhooks']
  webhookId = String((await api.call('POST', '/api/v1/webhooks', { key: project.key, body })).json['id'])
  ;({ scorerId } = await seedScorer(api, project.key))
  const target = { kind: 'chat', url: 'http://127.0.0.1:1' }
  const attack = { project_id: project.projectId, agent_name: 'a', target }
  const ordered = await api.call('POST', '/api/redteam-runs', { operator: true, body: attack })
  redteamRunId = String(ordered.json['id'])
  await api.pool.query(
    `insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, status, created_at)
     values (gen_random_uuid(), $1, $2, gen_random_uuid(), 'threat_detected', now(), '{}', 'failed', now())`,
    [idToUuid(webhookId), idToUuid(project.projectId)],
  )
  watchStatements()
})

afterAll(async () => {
  jest.restoreAllMocks()
  await api.stop()
})

/** Statements around a transaction, and those of a new connection. */
const frame = /^\s*(begin|commit|rollback|set)\b|\brolbypassrls\b/i

/** Records every statement of the routes. */
function watchStatements(): void {
  const { query } = pg.Client.prototype as { query: (...given: unknown[]) => unknown }
  jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...given: unknown[]
  ) {
    const route = currentRoute.getStore()
    const [first, second] = given as [string | { text?: string; values?: unknown[] }, unknown]
    const text = typeof first === 'string' ? first : String(first.text)
    const values = (typeof first === 'string' ? second : first.values) as unknown[] | undefined
    if (route !== undefined && !frame.test(text))
      statements.push({ route, text, values: Array.isArray(values) ? values : [] })
    if (lockedDays === undefined || text !== 'commit') return query.apply(this, given)
    return noteLocked(query.bind(this)).then(() => query.apply(this, given))
  })
}

async function noteLocked(query: (...given: unknown[]) => unknown): Promise<void> {
  const { rows } = (await query(
    `select distinct right(c.relname, 8) as day from pg_locks join pg_class c on c.oid = relation
     where pid = pg_backend_pid() and c.relkind = 'r' and c.relname ~ '_\\d{8}$'`,
  )) as pg.QueryResult<{ day: string }>
  for (const { day: locked } of rows) lockedDays?.add(locked)
}

/** The days whose partitions `work` locks: Postgres skips those that it need not read. */
async function daysOf(work: () => Promise<unknown>): Promise<string[]> {
  lockedDays = new Set()
  await work()
  const days = [...lockedDays].sort()
  lockedDays = undefined
  return days
}

interface PlanNode {
  'Relation Name'?: string
  'Actual Loops'?: number
  Plans?: PlanNode[]
}

function daysIn({ Plans = [], ...node }: PlanNode): string[] {
  const [, day] = /_(\d{8})$/.exec(node['Relation Name'] ?? '') ?? []
  const own = day !== undefined && (node['Actual Loops'] ?? 0) > 0 ? [day] : []
  return [...own, ...Plans.flatMap(daysIn)]
}

/** The days that a route reads, by EXPLAIN: in a join Postgres locks more than it reads. */
async function daysReadBy(target: string): Promise<string[]> {
  statements.length = 0
  const { status } = await api.call('GET', target, { key: project.key })
  expect([target, status]).toEqual([target, 200])
  const days = new Set<string>()
  for (const { text, values } of statements.splice(0)) {
    const explained = await api.pool.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      `explain (analyze, format json) ${text}`,
      values,
    )
    for (const { Plan } of explained.rows[0]?.['QUERY PLAN'] ?? [])
      for (const each of daysIn(Plan)) days.add(each)
  }
  return [...days].sort()
}

interface Operation {
  parameters?: { name: string; in: string }[]
  security: Record<string, string[]>[]
}

async function readLists(): Promise<{ path: string; names: string[]; operator: boolean }[]> {
  const { json } = await api.call('GET', '/openapi.json')
  return Object.entries(json['paths'] as Record<string, Record<string, Operation>>).flatMap(
    ([path, { get }]) => {
      const names = (get?.parameters ?? []).map(({ name }) => name)
      if (get === undefined || !names.some((name) => name === 'page_size' || name === 'limit')) return []
      return [{ path, names, operator: get.security.every((scheme) => 'operator' in scheme) }]
    },
  )
}

function idIn(path: string): string {
  const own = { projects: project.projectId, runs: redteamRunId, scorers: scorerId }
  const ids = { ...own, webhooks: webhookId, destinations: webhookId }
  return Object.entries(ids).find(([name]) => path.includes(name))?.[1] ?? 'session-0'
}

test('every list of /openapi.json takes at most three queries and reads no bodies', async () => {
  const lists = await readLists()
  expect(lists.length).toBeGreaterThanOrEqual(8)
  const seen: [string, number][] = []
  const readBodies: string[] = []
  for (const { path, names, operator } of lists) {
    const sizes = { page_size: ['page_size=2', 'page_size=200'], limit: ['limit=3'] }
    const common = [
      '',
      ...Object.entries(sizes).flatMap(([name, each]) => (names.includes(name) ? each : [])),
    ]
    for (const query of [...common, ...(filtersOf[path] ?? [])]) {
      statements.length = 0
      const target = `${path.replace('{id}', idIn(path))}?${query}`
      const answer = await api.call('GET', target, operator ? { operator } : { key: project.key })
      expect([target, answer.status]).toEqual([target, 200])
      const own = statements.filter(({ route }) => route === path)
      // One more where roll-ups narrow the range.
      const isCounted = own.length > 1 && own.some(({ text }) => /from (call|score)_rollups/.test(text))
      // One more for what a page of requests shows beside its rows.
      const notes = own.filter(({ text }) => text.includes('unsafe_scores')).length
      seen.push([target, own.length - notes - (Object.hasOwn(filtersOf, path) && isCounted ? 1 : 0)])
      if (statements.some(({ text }) => text.includes('llm_request_bodies'))) readBodies.push(target)
    }
  }
  // With no deliveries, the webhook itself is looked up.
  statements.length = 0
  const none = await api.call('GET', `/api/v1/webhooks/${webhookId}/deliveries?status=pending`, project)
  seen.push(['no deliveries', statements.length])
  expect(none.json['total']).toBe(0)
  expect(seen.filter(([, count]) => count > atMost)).toEqual([])
  expect(readBodies).toEqual([])
  // A test that counts nothing would pass.
  expect(seen.filter(([, count]) => count === 0)).toEqual([])
})

test.each([200, 157])(
  'common metadata is paged without losing or repeating a call, %s at a time',
  async (size) => {
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page = `metadata.team=a&page_size=${size}${cursor === null ? '' : `&cursor=${cursor}`}`
      const { json } = await api.call('GET', `/api/requests?${page}`, { key: project.key })
      expect([json['total'], json['total_is_exact']]).toEqual([1_000, false])
      seen.push(...(json['items'] as { id: string }[]).map(({ id }) => id))
      cursor = json['next_cursor'] as string | null
    } while (cursor !== null)
    expect(seen).toEqual(calls.map(({ id }) => id))
  },
)

test('a count looks behind the last two days only where they have less than is counted to', async () => {
  const busy = await api.createProject()
  const make = (ageMs: number) => sampleCall(busy.projectId, { id: newId('request', now - ageMs) })
  const recent = make(1_000)
  await createCallStorage(api.pool).calls([recent, make(2_000), make(4 * day)])
  const list = async () => {
    statements.length = 0
    const { json } = await api.call('GET', '/api/requests?limit=1', { key: busy.key })
    return { json, unbounded: statements.filter(({ text }) => !text.includes('created_at >=')).length }
  }
  expect(await list()).toMatchObject({ json: { total: 3, has_more: true }, unbounded: 1 })
  await api.pool.query(
    `insert into llm_requests (project_id, id, created_at, source, model, zero_content_retention, received_at)
     select project_id, gen_random_uuid(), created_at, source, model, false, received_at from llm_requests, generate_series(1, 10000)
     where id = $1`,
    [idToUuid(recent.id)],
  )
  expect(await list()).toMatchObject({ json: { total: 10_000, total_is_exact: false }, unbounded: 0 })
})

test('a call and its scores are stored, listed by their time, shown and swept with the partitions of their day alone', async () => {
  const middayMs = Math.floor(now / day) * day - 1.5 * day
  for (const ago of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20])
    await api.pool.query('select ensure_day_partitions($1::date)', [new Date(now - ago * day)])
  const call = sampleCall(project.projectId, { id: newId('request', middayMs), session_id: null })
  const [from, to] = [new Date(middayMs - 3_600_000), new Date(middayMs + 3_600_000)]
  const hours = `start=${from.toISOString()}&end=${to.toISOString()}`
  const storage = createCallStorage(api.pool)
  const slice = { projects: [idToUuid(project.projectId)], from, to, storedBefore: new Date(now + day) }
  const limits = { maxCalls: 5, maxBytes: 1_000_000, maxTries: 3, nowMs: now }
  const days = {
    stored: await daysOf(() => storage.calls([call])),
    swept: await daysOf(() =>
      inTransaction(api.pool, async (client) =>
        expect(await claimUnscored(client, { ...slice, ...limits })).toHaveLength(1),
      ),
    ),
    scored: await daysOf(() => storage.scores([sampleScoredCall(call)])),
    listed: await daysReadBy(`/api/requests?${hours}`),
    listedByVerdict: await daysReadBy(`/api/requests?label=unsafe&${hours}`),
    listedByReading: await daysReadBy(`/api/requests?verdict=unsafe&${hours}`),
    listedByScorerAndReading: await daysReadBy(
      `/api/requests?scorer_name=pii_detection&verdict=unsafe&${hours}`,
    ),
    listedByScorer: await daysReadBy(`/api/requests?scorer_name=pii_detection&source=gateway&${hours}`),
    shown: await daysReadBy(`/api/requests/${call.id}`),
    scoresOfCall: await daysReadBy(`/api/safety-scores?request_id=${call.id}`),
    scoresOfHours: await daysReadBy(`/api/safety-scores?include_redteam=false&${hours}`),
  }
  const own = [from.toISOString().slice(0, 10).replaceAll('-', '')]
  expect(days).toEqual(Object.fromEntries(Object.keys(days).map((name) => [name, own])))
  // A call in a session also has its neighbours looked up, in the days around it.
  const inSession = sampleCall(project.projectId, { id: newId('request', middayMs + 1), session_id: 's' })
  await storage.calls([inSession])
  const around = await daysOf(() => api.call('GET', `/api/requests/${inSession.id}`, project))
  const tooOld = new Date(now - 19 * day).toISOString().slice(0, 10).replaceAll('-', '')
  expect(around.length).toBeGreaterThan(own.length)
  expect(around.filter((name) => name < tooOld)).toEqual([])
})
