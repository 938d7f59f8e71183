import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { signInPerson } from '#tests/support/sign-in-people.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

type Project = Awaited<ReturnType<RunningApi['createProject']>>
let api: RunningApi
let project: Project
let other: Project

beforeAll(async () => {
  api = await startApi()
  project = await api.createProject()
  other = await api.createProject()
  await api.pool.query(
    `insert into scorer_catalogue (name, kind, version, judge_version, fail_at, tiers, projects, changed_at) values
       ('pii_detection', 'built_in', 'pii-2', 'judge-1-a', 4, '{enterprise}', null, now()),
       ('supply_chain', 'built_in', 'chain-1', null, 4, '{}', null, now()),
       ('destructive_tool_call', 'file', 'custom-1', null, null, null, null, now()),
       ('codenames of the other', 'file', 'custom-2', null, null, null, $1, now())`,
    [[idToUuid(other.projectId)]],
  )
})
afterAll(() => api.stop())

const call = (method: string, path: string, body?: unknown, who: Project = project) =>
  api.call(method, `/api/scorers${path}`, { key: who.key, ...(body === undefined ? {} : { body }) })
const keywords = { kind: 'keyword_list', keywords: ['project falcon'], match_on: 'both' }
const create = (name: string, more: object = {}, who?: Project) =>
  call('POST', '', { name, severity: 'high', definition: keywords, ...more }, who)
const list = async (who?: Project) => (await call('GET', '', undefined, who)).json['items'] as Listed[]
interface Listed {
  name: string
  enabled: boolean
  blocked_by: string | null
  fail_at: number | null
  rescore_suggested: object | null
}
const listed = async (name: string, who?: Project) => (await list(who)).find((one) => one.name === name)

describe('a scorer of a project', () => {
  test('is made switched off, changed to a new version, switched on without one, and deleted', async () => {
    const made = await create('falcons', { description: 'Names of products.' })
    expect([made.status, made.json]).toMatchObject([
      201,
      { enabled: false, version: 1, definition: keywords, owasp_category: null },
    ])
    const id = String(made.json['id'])
    expect((await call('GET', `/${id}`)).json).toEqual(made.json)
    const on = await call('PATCH', `/${id}`, { enabled: true })
    expect(on.json).toMatchObject({ enabled: true, version: 1 })
    const definition = { ...keywords, keywords: ['bluebird'] }
    const changed = await call('PATCH', `/${id}`, { definition, severity: 'critical' })
    expect(changed.json).toMatchObject({ enabled: true, version: 2, definition, severity: 'critical' })
    expect((await call('PATCH', `/${id}`, { severity: 'critical' })).json['version']).toBe(2)
    const versions = (await call('GET', `/${id}/versions`)).json
    expect(versions).toMatchObject({
      total: 2,
      items: [
        { version: 2, definition },
        { version: 1, definition: keywords },
      ],
    })
    expect(await listed('falcons')).toMatchObject({
      id,
      origin: 'project',
      kind: 'keyword_list',
      enabled: true,
    })
    expect((await call('DELETE', `/${id}`)).status).toBe(204)
    expect([(await call('GET', `/${id}`)).status, await listed('falcons')]).toEqual([404, undefined])
    const { json } = await api.call('GET', `/api/audit?project_id=${project.projectId}`, { operator: true })
    const actions = (json['items'] as { action: string; subject: string }[]).filter(
      ({ subject }) => subject === id,
    )
    expect(actions.map(({ action }) => action)).toEqual([
      'project_scorer.deleted',
      'project_scorer.changed',
      'project_scorer.changed',
      'project_scorer.created',
    ])
  })

  test.each<[string, object, string, RegExp]>([
    ['a name of a built-in scorer', { name: 'pii_detection' }, 'name', /built-in/],
    ['a name of the file', { name: 'destructive_tool_call' }, 'name', /of the installation/],
    ['a name with other characters', { name: 'a/b' }, 'name', /letters/],
    ['no keywords', { definition: { kind: 'keyword_list', keywords: [] } }, 'definition.keywords', />=1/],
    [
      'a pattern that RE2 has not',
      { definition: { kind: 'regex', patterns: ['a', '(?=x)'] } },
      'definition.patterns.1',
      /./,
    ],
    [
      'a pattern that matches everything',
      { definition: { kind: 'regex', patterns: ['a*'] } },
      'definition.patterns.0',
      /empty text/,
    ],
    [
      'patterns that cost too much',
      { definition: { kind: 'regex', patterns: Array(12).fill('x.{1,1000}y') } },
      'definition.patterns',
      /steps/,
    ],
    [
      'a definition that is too long',
      { definition: { kind: 'keyword_list', keywords: Array(70).fill('x'.repeat(1_000)) } },
      'definition',
      /bytes/,
    ],
    [
      'eleven examples',
      { definition: { kind: 'criterion', criterion: 'x', safe_examples: Array(11).fill('x') } },
      'definition.safe_examples',
      /10/,
    ],
  ])('is refused with %s, by the field', async (_name, change, path, message) => {
    const { status, json } = await create('refused', change)
    expect([status, json['errors']]).toEqual([
      422,
      [{ path, message: expect.stringMatching(message) as unknown }],
    ])
  })

  test('keeps its kind, and its name to itself', async () => {
    const { json } = await create('kinds')
    const regex = { definition: { kind: 'regex', patterns: ['x'] } }
    expect((await call('PATCH', `/${String(json['id'])}`, regex)).json['errors']).toMatchObject([
      { path: 'definition.kind' },
    ])
    expect((await create('kinds')).json['errors']).toMatchObject([{ path: 'name' }])
    expect((await create('kinds', {}, other)).status).toBe(201)
    // The file has this name for the other project only.
    expect((await create('codenames of the other')).status).toBe(201)
    expect((await create('codenames of the other', {}, other)).json['errors']).toMatchObject([
      { path: 'name' },
    ])
  })

  test('is one of at most 20 criteria and 50 others, also when they are made at once', async () => {
    const full = await api.createProject()
    const criterion = { definition: { kind: 'criterion', criterion: 'It promises a refund.' } }
    const statuses = async (made: Promise<{ status: number }>[]) =>
      Object.groupBy(await Promise.all(made), ({ status }) => status)
    const criteria = await statuses(
      Array.from({ length: 22 }, (_, at) => create(`criterion ${at}`, criterion, full)),
    )
    expect([criteria[201]?.length, criteria[422]?.length]).toEqual([20, 2])
    for (let at = 0; at < 50; at += 1) expect((await create(`words ${at}`, {}, full)).status).toBe(201)
    expect((await create('one more', {}, full)).json).toMatchObject({ code: 'SCORERS_TOO_MANY' })
  })

  test('is off when the file takes its name later, and the list says so', async () => {
    await create('taken later', { enabled: true })
    expect(await listed('taken later')).toMatchObject({ blocked_by: null })
    await api.pool.query(
      `insert into scorer_catalogue (name, kind, version, changed_at) values ('taken later', 'file', 'custom-3', now())`,
    )
    const both = (await list()).filter(({ name }) => name === 'taken later')
    expect(both).toMatchObject([
      { origin: 'file', blocked_by: null },
      { origin: 'project', blocked_by: 'name_in_file' },
    ])
  })
})

describe('the list of scorers', () => {
  test('says what runs in the project, and nothing of what is for another one', async () => {
    expect(await listed('pii_detection')).toMatchObject({
      origin: 'built_in',
      version: 'pii-2',
      judge_version: 'judge-1-a',
      enabled: true,
      blocked_by: null,
      fail_at: 4,
    })
    expect(await listed('supply_chain')).toMatchObject({ blocked_by: 'tier' })
    expect(await listed('codenames of the other', other)).toMatchObject({ origin: 'file' })
    expect((await list()).filter(({ name }) => name.startsWith('codenames'))).toMatchObject([
      { origin: 'project' },
    ])
    const never = await api.createProject({ judge_mode: 'never' })
    const definition = { kind: 'criterion', criterion: 'It promises a refund.' }
    await create('refunds', { definition, enabled: true }, never)
    expect(await listed('refunds', never)).toMatchObject({ blocked_by: 'no_judge', fail_at: 4 })
  })

  test('switches scorers off and sets thresholds, for this project alone', async () => {
    const set = (name: string, body: object) => call('PATCH', `/${encodeURIComponent(name)}/settings`, body)
    const off = await set('pii_detection', { enabled: false })
    expect([off.status, off.json['blocked_by']]).toEqual([200, 'off'])
    expect((await set('pii_detection', { fail_at: 5 })).json).toMatchObject({ enabled: false, fail_at: 5 })
    expect((await set('pii_detection', { enabled: true, fail_at: null })).json).toMatchObject({
      enabled: true,
      fail_at: 4,
    })
    expect(await listed('pii_detection', other)).toMatchObject({ enabled: true, fail_at: 4 })
    await create('by settings')
    expect((await set('by settings', { enabled: true })).json).toMatchObject({ enabled: true })
    for (const name of ['by settings', 'destructive_tool_call'])
      expect((await set(name, { fail_at: 3 })).json['errors']).toMatchObject([{ path: 'fail_at' }])
    expect((await set('pii_detection', { fail_at: 1 })).status).toBe(422)
    expect((await set('nobody', { enabled: true })).status).toBe(404)
    expect((await set('pii_detection', {})).status).toBe(200)
  })

  test('suggests to score again what an older version scored', async () => {
    const own = await api.createProject()
    await seedRequest(api.pool, createSealer([]), {
      projectId: own.projectId,
      id: newId('request', Date.now() - 3_600_000),
      scores: [
        { scorer: 'pii_detection', value: 1, label: 'safe' },
        { scorer: 'destructive_tool_call', value: 1, label: 'safe' },
      ],
    })
    await api.pool.query(
      `update safety_scores set scorer_version = case scorer_name when 'pii_detection' then 'pii-1' else 'custom-1' end
       where project_id = $1`,
      [idToUuid(own.projectId)],
    )
    const suggested = { from_version: 'pii-1', to_version: 'pii-2' }
    expect(await listed('pii_detection', own)).toMatchObject({ rescore_suggested: suggested })
    expect(await listed('destructive_tool_call', own)).toMatchObject({ rescore_suggested: null })
    expect(await listed('pii_detection', other)).toMatchObject({ rescore_suggested: null })
  })
})

test("an analyst manages scorers of their project, a viewer reads the list, and neither another's", async () => {
  const analyst = await signInPerson(api, 'analyst', [project.projectId])
  const viewer = await signInPerson(api, 'viewer', [project.projectId])
  const body = { name: 'by an analyst', severity: 'high', definition: keywords }
  const made = await analyst.call('POST', '/api/scorers', { body })
  expect([made.status, made.json['created_by']]).toEqual([201, analyst.login])
  const path = `/api/scorers/${String(made.json['id'])}`
  expect((await viewer.call('GET', '/api/scorers')).status).toBe(200)
  expect((await viewer.call('GET', path)).json['code']).toBe('ROLE_FORBIDS')
  const foreign = String((await create('foreign', {}, other)).json['id'])
  for (const [method, change] of [['GET'], ['PATCH', { enabled: true }], ['DELETE']] as const) {
    const options = change === undefined ? {} : { body: change }
    expect((await analyst.call(method, `/api/scorers/${foreign}`, options)).status).toBe(404)
    const named = `/api/scorers/${foreign}?project_id=${other.projectId}`
    expect((await analyst.call(method, named, options)).json['code']).toBe('OTHER_PROJECT')
  }
  const preview = { body: { scorer_id: foreign } }
  expect((await analyst.call('POST', '/api/scorers/previews', preview)).status).toBe(404)
  expect((await call('GET', `/${foreign}`, undefined, other)).json).toMatchObject({
    enabled: false,
    version: 1,
  })
})
