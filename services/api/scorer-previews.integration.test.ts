import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

type Project = Awaited<ReturnType<RunningApi['createProject']>>
let api: RunningApi
let project: Project

beforeAll(async () => {
  api = await startApi()
  project = await api.createProject()
})
afterAll(() => api.stop())

const call = (method: string, path: string, body?: unknown, who: Project = project) =>
  api.call(method, `/api/scorers${path}`, { key: who.key, ...(body === undefined ? {} : { body }) })
const definition = { kind: 'keyword_list', keywords: ['project falcon'], match_on: 'both' }

test('is ordered once at a time, of a definition or a saved scorer, and forgets calls that were erased', async () => {
  const own = await api.createProject()
  const order = (body: object) => call('POST', '/previews', body, own)
  expect((await order({})).json['errors']).toMatchObject([{ path: 'definition' }])
  expect((await order({ scorer_id: newId('projectScorer') })).status).toBe(404)
  const { status, json } = await order({ definition, days: 3 })
  expect([status, json]).toMatchObject([201, { status: 'queued', days: 3, report: null, hits: [] }])
  expect((await order({ definition })).json).toMatchObject({ code: 'PREVIEW_UNDER_WAY' })
  const id = String(json['id'])
  const kept = await seedRequest(api.pool, createSealer([]), { projectId: own.projectId })
  const hits = [kept, newId('request')].map((request_id) => ({ request_id, matches: [] }))
  const identity = sealedIdentity(own.projectId, id, 'scorer_preview')
  const sealed = createSealer([]).seal(Buffer.from(JSON.stringify(hits)), identity)
  await api.pool.query(
    `update scorer_previews set status = 'done', report = '{}', hits_codec = $2, hits_data = $3 where id = $1`,
    [idToUuid(id), sealed.codec, sealed.data],
  )
  const found = await call('GET', `/previews/${id}`, undefined, own)
  expect(found.json['hits']).toMatchObject([{ request_id: kept }])
  expect((await call('GET', `/previews/${id}`)).status).toBe(404)
})

test('keeps the newest twenty of a project', async () => {
  const own = await api.createProject()
  for (let at = 0; at < 23; at += 1) {
    expect((await call('POST', '/previews', { definition }, own)).status).toBe(201)
    await api.pool.query(`update scorer_previews set status = 'failed' where status = 'queued'`)
  }
  const { rows } = await api.pool.query('select from scorer_previews where project_id = $1', [
    idToUuid(own.projectId),
  ])
  expect(rows).toHaveLength(20)
})
