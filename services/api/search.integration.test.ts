import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { outgoingCall } from '#capture/record/outgoing-call.ts'
import { createSignCall } from '#capture/search/search-signature.ts'
import { createSealer } from '#runtime/sealing.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { sampleCall } from '#services/sink/testing/sample-records.ts'
import { signInPerson } from '#tests/support/sign-in-people.ts'
import { startApi, type Answer, type RunningApi } from '#tests/support/start-api.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'
import { eventually } from '#tests/support/until.ts'

const bodyKey = { id: 'k1', key: Buffer.alloc(32, 1) }
const [newKey, oldKey, lostKey] = ['s2', 's1', 's0'].map((id, index) => ({
  id,
  key: Buffer.alloc(32, index + 2),
}))
const written = (...keys: ({ id: string; key: Buffer } | undefined)[]) =>
  keys.map((key) => `${key?.id}:${key?.key.toString('base64')}`).join(',')
const sealer = createSealer([bodyKey])

let api: RunningApi
let mine: { projectId: string; key: string }
let theirs: { projectId: string; key: string }

interface Seeded {
  key?: { id: string; key: Buffer } | undefined
  agentName?: string
  answer?: string
  /** Before now. */
  ageMs?: number
  zeroRetention?: boolean
}

/** Calls as ingest or gateway seal them and the sink stores them. Returns their ids. */
async function seed(projectId: string, prompts: readonly string[], seeded: Seeded = {}): Promise<string[]> {
  const { key, agentName = 'support-bot', answer = 'Yes.', ageMs = 0, zeroRetention = false } = seeded
  const calls = prompts.map((content, index) => {
    const call = sampleCall(projectId, {
      id: newId('request', Date.now() - ageMs - index),
      agent_name: agentName,
      zero_content_retention: zeroRetention,
      ...{ request_body: null, response_body: null, preview: null },
    })
    const bodies = {
      requestBody: Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }] })),
      responseBody: Buffer.from(JSON.stringify({ choices: [{ message: { content: answer } }] })),
      preview: null,
    }
    const seal = (bytes: Buffer, identity: string) => sealer.seal(bytes, identity)
    return outgoingCall(call, bodies, seal, createSignCall(key === undefined ? [] : [key])).logged
  })
  await createCallStorage(api.pool).calls(calls)
  return calls.map(({ id }) => id)
}

const dayMs = 86_400_000
const ordinary = (count: number) => Array.from({ length: count }, (_, index) => `What about topic ${index}?`)
const secret = 'sk-live-4eC39HqLyjWDarjtT1zdp7dc'
let [pasted, older, unsigned, lost] = ['', '', '', '']

beforeAll(async () => {
  api = await startApi({ BODY_ENCRYPTION_KEYS: written(bodyKey), SEARCH_KEY: written(newKey, oldKey) })
  ;[mine, theirs] = [await api.createProject(), await api.createProject()]
  await seed(mine.projectId, ordinary(600), { key: newKey })
  ;[pasted = ''] = await seed(mine.projectId, [`Why is ${secret} refused?`], {
    key: newKey,
    agentName: 'ops',
  })
  ;[older = ''] = await seed(mine.projectId, [`my key: ${secret}.`], { key: oldKey, ageMs: 2 * dayMs })
  ;[unsigned = ''] = await seed(mine.projectId, [`${secret} again`], { ageMs: 3 * dayMs })
  ;[lost = ''] = await seed(mine.projectId, [`${secret} once more`], {
    key: lostKey,
    ageMs: 3 * dayMs + 60_000,
  })
  await seed(theirs.projectId, [`THEIRS ${secret}`], { key: newKey })
})

afterAll(() => api.stop())

interface Line {
  type: string
  request?: { id: string; agent_name: string }
  excerpts?: { part: string; text: string; marks: { start: number; end: number }[] }[]
  [name: string]: unknown
}
const linesOf = ({ text }: Answer) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line)

async function search(body: object, query = '', key = mine.key) {
  const answer = await api.call('POST', `/api/requests/search${query}`, { key, body })
  const lines = linesOf(answer)
  return {
    answer,
    ids: lines.flatMap(({ request }) => request?.id ?? []),
    matches: lines.filter(({ type }) => type === 'match'),
    end: lines.at(-1),
    lines,
  }
}

test('finds a key that was pasted, newest first, and opens few others', async () => {
  const { answer, ids, matches, end } = await search({ text: secret })
  expect(answer.headers.get('content-type')).toMatch(/^application\/x-ndjson/)
  expect(ids).toEqual([pasted, older, unsigned, lost])
  const [excerpt] = matches[0]?.excerpts ?? []
  expect(excerpt).toMatchObject({ part: 'request', text: `Why is ${secret} refused?` })
  expect(excerpt?.marks.map(({ start, end }) => excerpt.text.slice(start, end))).toEqual([secret])
  expect(end).toMatchObject({
    ...{ type: 'end', reason: 'complete', after: null, share: 1, unreadable: 0 },
    // Without a signature, and with one of a key that is not configured.
    ...{ looked_at: 604, unsigned: 2 },
  })
  expect(end?.['opened']).toBeLessThan(12)
})

test('takes filters, phrases, words of the answer, and a range', async () => {
  expect((await search({ text: secret }, '?agent_name=ops')).ids).toEqual([pasted])
  expect((await search({ text: `"refused ${secret}"` })).ids).toEqual([])
  expect((await search({ text: `"${secret} REFUSED"` })).ids).toEqual([pasted])
  const [answered] = await seed(mine.projectId, ['hi'], { key: newKey, answer: 'Ask Zweifel & Söhne.' })
  expect((await search({ text: 'söhne zweifel' })).ids).toEqual([answered])
  const before = new Date(Date.now() - dayMs).toISOString()
  expect((await search({ text: secret }, `?end=${before}`)).ids).toEqual([older, unsigned, lost])
  expect((await search({ text: secret }, `?start=${before}`)).ids).toEqual([pasted])
})

test('stops at its limit and goes on from there', async () => {
  const first = await search({ text: 'topic', limit: 5 })
  expect(first.end).toMatchObject({ type: 'end', reason: 'limit', after: first.ids[4] })
  const second = await search({ text: 'topic', limit: 200, after: first.ids[4] })
  const third = await search({ text: 'topic', limit: 200, after: second.ids.at(-1) })
  const all = [...first.ids, ...second.ids, ...third.ids]
  expect(new Set(all).size).toBe(405)
  expect(all).toEqual(all.toSorted().reverse())
})

test("never finds another project's calls, nor what was not kept", async () => {
  await seed(mine.projectId, ['ephemeral pangolin'], { key: newKey, zeroRetention: true })
  expect((await search({ text: 'pangolin' })).ids).toEqual([])
  const { answer } = await search({ text: 'THEIRS' })
  expect([answer.status, answer.text.includes('THEIRS')]).toEqual([200, false])
  const named = await search({ text: 'THEIRS' }, `?project_id=${theirs.projectId}`)
  expect([named.answer.status, named.answer.json['code']]).toEqual([403, 'OTHER_PROJECT'])
  expect((await search({ text: 'THEIRS' }, '', theirs.key)).ids).toHaveLength(1)
})

test('is for those who may read bodies, and every search is audited without the key', async () => {
  const [viewer, analyst] = [
    await signInPerson(api, 'viewer', [mine.projectId]),
    await signInPerson(api, 'analyst', [mine.projectId]),
  ]
  const body = { text: `"the key" ${secret}` }
  const refused = await viewer.call('POST', '/api/requests/search', { body })
  expect([refused.status, refused.json['code']]).toEqual([403, 'ROLE_FORBIDS'])
  for (let time = 0; time < 2; time++)
    expect((await analyst.call('POST', '/api/requests/search?agent_name=ops', { body })).status).toBe(200)
  const { rows } = await api.pool.query(
    `select actor_name, subject, detail from audit_log where action = 'requests.searched' and actor_kind = 'person'`,
  )
  const entry = { actor_name: analyst.login, subject: '"the key" sk-live-…', detail: { agent_name: 'ops' } }
  expect(rows).toEqual([entry, entry])
})

test.each([
  [{ text: '?!' }, 'text'],
  [{ text: '' }, 'text'],
  [{ text: 'x', limit: 201 }, 'limit'],
  [{ text: 'x', after: 'prj_1' }, 'after'],
])('refuses %j', async (body, path) => {
  const { answer } = await search(body)
  expect([answer.status, answer.json['errors']]).toEqual([422, [expect.objectContaining({ path })]])
})

test('a project has two searches at a time over all processes, and those that their clients left are over', async () => {
  const databaseUrl = String(api.pool.options.connectionString)
  const second = await startApi({ DATABASE_URL: databaseUrl, BODY_ENCRYPTION_KEYS: written(bodyKey) })
  const locker = await api.pool.connect()
  const leaving = new AbortController()
  const statuses: number[] = []
  const begin = async (baseUrl: string) => {
    const { status } = await fetch(`${baseUrl}/api/requests/search`, {
      method: 'POST',
      headers: { 'x-service-key': mine.key, 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'topic' }),
      signal: leaving.signal,
    })
    statuses.push(status)
  }
  const busy = () => statuses.filter((status) => status === 429).length
  try {
    await locker.query('begin; lock table search_signatures')
    // Two wait for Postgres, with their permits.
    const begun = [api, second, api, second, api, second].map(({ baseUrl }) => begin(baseUrl))
    for (const each of begun) each.catch(() => undefined)
    await eventually(busy, (count) => count === 4)
  } finally {
    leaving.abort()
    await locker.query('rollback')
    locker.release()
  }
  const answer = await eventually(
    async () => (await search({ text: 'topic', limit: 1 })).answer,
    ({ status }) => status === 200,
  )
  expect(linesOf(answer).at(-1)).toMatchObject({ type: 'end', reason: 'limit' })
  await second.stop()
  // No search, no connection held for its slot.
  const { rows } = await api.pool.query(
    `select from pg_locks join pg_database d on d.oid = database
     where locktype = 'advisory' and granted and datname = current_database()`,
  )
  expect(rows).toEqual([])
})

test('with erased bodies the signature is gone, and the call is not found', async () => {
  const [id = ''] = await seed(mine.projectId, ['an aardvark'], { key: newKey })
  expect((await search({ text: 'aardvark' })).ids).toEqual([id])
  await api.pool.query('delete from llm_request_bodies where request_id = $1', [idToUuid(id)])
  const { rowCount } = await api.pool.query('select from search_signatures where request_id = $1', [
    idToUuid(id),
  ])
  expect(rowCount).toBe(0)
  expect((await search({ text: 'aardvark' })).ids).toEqual([])
})
