import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { listGateways } from './stores/gateway-store.ts'
import { createProjectDatabases } from './stores/project-database.ts'

let api: RunningApi
let project: { projectId: string; key: string }

beforeAll(async () => {
  api = await startApi()
  project = await api.createProject({ zero_content_retention: true })
})
afterAll(() => api.stop())

const report = (more: object = {}) => ({
  name: 'host:8080/1',
  version: '0.1.0',
  delivery: 'api',
  started_at: '2026-11-21T10:00:00.000Z',
  spool: { records: 3, bytes: 4_000, oldest_at: '2026-11-21T10:05:00.000Z' },
  lost: { spool_full: 2 },
  problems: { backend: 'away' },
  ...more,
})
const beat = (more: object, as: object) =>
  api.call('POST', '/internal/gateways/heartbeat', { ...as, body: report(more) })
const seen = () => {
  const databases = createProjectDatabases({
    pool: api.pool,
    operatorPool: api.pool,
    watch: (_text, run) => run(),
    countedDays: () => Promise.resolve(-Infinity),
  })
  return listGateways(databases.of({ kind: 'operator' }, undefined), Date.now(), 100)
}

test('a report takes the place of the last one; gateways of the operator have no project', async () => {
  expect((await beat({}, { key: project.key })).status).toBe(204)
  const leftOut = { [project.projectId]: { key_capture_none: 7 } }
  const counts = { lost: { spool_full: 5 }, left_out: leftOut }
  expect((await beat(counts, { key: project.key })).status).toBe(204)
  expect((await beat({ spool: { records: 0, bytes: 0, oldest_at: null } }, { operator: true })).status).toBe(
    204,
  )
  const common = { name: 'host:8080/1', version: '0.1.0', delivery: 'api', problems: { backend: 'away' } }
  const [own, operators, ...more] = await seen()
  expect(own).toMatchObject({
    ...common,
    projectId: project.projectId,
    spool: { records: 3, bytes: 4_000, oldestAtMs: Date.parse('2026-11-21T10:05:00.000Z') },
    lost: { spool_full: 5 },
    leftOut,
  })
  expect(operators).toMatchObject({ ...common, projectId: null, spool: { records: 0, oldestAtMs: null } })
  expect(more).toEqual([])
})

test('what is silent for a day is forgotten, and names cannot be made up without end', async () => {
  const other = await api.createProject()
  await api.pool.query(
    `insert into gateways select p.id, 'g' || n, '1', 'api', now(), now() - case when n <= 1000 then interval '1 hour' else interval '2 days' end,
       0, 0, null, '{}', '{}', '{}' from projects p, generate_series(1, 1005) n where p.name = 'test' and p.zero_content_retention = false`,
  )
  const refused = await beat({}, { key: other.key })
  expect([refused.status, refused.json['code']]).toEqual([409, 'GATEWAYS_TOO_MANY'])
  expect((await beat({ name: 'g7' }, { key: other.key })).status).toBe(204)
  const { rows } = await api.pool.query<{ count: number }>(
    `select count(*)::integer from gateways where name like 'g%'`,
  )
  expect(rows).toEqual([{ count: 1_000 }])
})

test.each([
  ['name', { name: 'a b' }],
  ['lost.Total', { lost: { Total: 1 } }],
  ['spool.records', { spool: { records: -1, bytes: 0, oldest_at: null } }],
  ['problems.backend', { problems: { backend: 'a\u0000' } }],
])('a report that is malformed at %s names the field', async (path, more) => {
  const answer = await beat(more, { key: project.key })
  expect([answer.status, answer.json['errors']]).toMatchObject([422, [{ path }]])
})

test("a gateway is told its project's settings", async () => {
  const settings = { project_id: project.projectId, tier: 'enterprise', zero_content_retention: true }
  const ask = async (path: string, as: object) => (await api.call('GET', path, as)).json
  expect(await ask('/internal/project', { key: project.key })).toEqual(settings)
  expect(await ask(`/internal/project?project_id=${project.projectId}`, { operator: true })).toEqual(settings)
  const other = await api.createProject()
  expect(await ask(`/internal/project?project_id=${other.projectId}`, { key: project.key })).toMatchObject({
    code: 'OTHER_PROJECT',
  })
  expect(await ask('/internal/project', { operator: true })).toMatchObject({ code: 'INVALID_INPUT' })
})
