import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { MockAgent } from 'undici'
import { createPostRecords, type PostRecords } from './post-records.ts'
import { rejectPoisonRecords } from './reject-poison-records.ts'

/** An API service that misbehaves. */
const origin = 'http://api.test'
let agent: MockAgent
let nowMs: number
let post: PostRecords
let posted: string[]

beforeEach(() => {
  agent = new MockAgent()
  agent.disableNetConnect()
  nowMs = 0
  posted = []
  const credential = { name: 'x-service-key', value: 'svc' }
  post = createPostRecords({ dispatcher: agent, url: origin, credential, now: () => nowMs })
})
afterEach(() => agent.close())

interface Answer {
  status: number
  body?: unknown
  headers?: Record<string, string>
}

/** `answer` receives the identifiers of the records of a post. */
function answers(answer: (ids: string[], path: string) => Answer): void {
  agent
    .get(origin)
    .intercept({ path: () => true, method: 'POST' })
    .reply(({ path, body }) => {
      const ids = [...(body as Buffer).toString().matchAll(/"id":"(\w+)"/g)].map((match) => match[1] ?? '')
      posted.push(`${path.split('/').at(-1)} ${ids.join()}`)
      const { status, body: json = {}, headers = {} } = answer(ids, path)
      return { statusCode: status, data: JSON.stringify(json), responseOptions: { headers } }
    })
    .persist()
}

const recordsOf = (ids: string) => Array.from(ids, (id) => Buffer.from(`{"id":"${id}"}`))
const kindsOf = async (verdicts: Promise<{ kind: string }[]>) => (await verdicts).map(({ kind }) => kind)
const taken = (ids: string[], path: string) =>
  path.endsWith('batch')
    ? { status: 200, body: { results: ids.map((id) => ({ id, status: 'queued' })) } }
    : { status: 202 }

test('429 drops records only when it is of the quota; another is waited out as long as it says', async () => {
  let body: unknown = { detail: 'used', code: 'INGEST_QUOTA_EXCEEDED' }
  answers(() => ({ status: 429, body, headers: { 'retry-after': '7' } }))
  expect(await kindsOf(post(recordsOf('ab')))).toEqual(['over_quota', 'over_quota'])
  expect(await kindsOf(post(recordsOf('a')))).toEqual(['over_quota'])
  for (body of ['<html>slow down</html>', { detail: 'slow', code: 'OTHER' }]) {
    await expect(post(recordsOf('ab'))).rejects.toMatchObject({ status: 429, retryAfterMs: 7_000 })
    await expect(post(recordsOf('a'))).rejects.toMatchObject({ status: 429, retryAfterMs: 7_000 })
  }
})

test('without batches records go one by one, and batches are tried again after a minute', async () => {
  let isOld = true
  answers((ids, path) => (isOld && path.endsWith('batch') ? { status: 404 } : taken(ids, path)))
  await post(recordsOf('ab'))
  isOld = false
  await post(recordsOf('ab'))
  nowMs = 60_000
  await post(recordsOf('ab'))
  expect(posted).toEqual(['batch a,b', 'log a', 'log b', 'log a', 'log b', 'batch a,b'])
})

test('a record that makes the service fail is refused after ten times, its neighbours are taken', async () => {
  answers((ids, path) => (ids.includes('b') ? { status: 500, body: { detail: 'defect' } } : taken(ids, path)))
  const patient = rejectPoisonRecords(post)
  for (let n = 1; n < 10; n++) await expect(patient(recordsOf('abc'))).rejects.toThrow('500')
  expect(await patient(recordsOf('abcd'))).toMatchObject([
    { kind: 'taken' },
    { kind: 'refused', status: 500 },
    { kind: 'taken' },
    { kind: 'taken' },
  ])
})

test.each([403, 406, 451])('a record that a firewall refuses with %i holds up no other', async (status) => {
  answers((ids, path) => (ids.includes('b') ? { status } : taken(ids, path)))
  const patient = rejectPoisonRecords(post)
  for (let n = 1; n < 3; n++) await expect(patient(recordsOf('abc'))).rejects.toThrow(String(status))
  expect(await patient(recordsOf('abcd'))).toMatchObject([
    { kind: 'taken' },
    { kind: 'refused', status },
    { kind: 'taken' },
    { kind: 'taken' },
  ])
})

test.each(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])(
  'a record whose connection a firewall breaks off (%s) holds up no other',
  async (code) => {
    answers((ids, path) => {
      if (ids.includes('b')) throw Object.assign(new Error('gone'), { code })
      return taken(ids, path)
    })
    const patient = rejectPoisonRecords(post)
    for (let n = 1; n < 10; n++) await expect(patient(recordsOf('abc'))).rejects.toThrow('broken off')
    expect(await patient(recordsOf('abcd'))).toMatchObject([
      { kind: 'taken' },
      { kind: 'refused', status: null, detail: `the connection to the API service was broken off (${code})` },
      { kind: 'taken' },
      { kind: 'taken' },
    ])
  },
)

test.each(['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_HEADERS_TIMEOUT'])(
  'an API service that is away (%s) has no record refused',
  async (code) => {
    answers(() => {
      throw Object.assign(new Error('away'), { code })
    })
    const patient = rejectPoisonRecords(post)
    for (let n = 0; n < 25; n++) await expect(patient(recordsOf('abc'))).rejects.toThrow('API service')
    for (let n = 0; n < 25; n++) await expect(patient(recordsOf('a'))).rejects.toThrow('API service')
  },
)

test.each([500, 'UND_ERR_SOCKET'])(
  'an API service of which most fails (%s) has no record refused',
  async (fault) => {
    const tries = new Map<string, number>()
    answers((ids, path) => {
      const [id = ''] = ids
      const count = (tries.get(id) ?? 0) + 1
      if (!path.endsWith('batch')) tries.set(id, count)
      if (id === 'z' || (!path.endsWith('batch') && count > 5)) return taken(ids, path)
      if (typeof fault === 'number') return { status: fault }
      throw Object.assign(new Error('gone'), { code: fault })
    })
    const patient = rejectPoisonRecords(post)
    expect(await kindsOf(patient(recordsOf('z')))).toEqual(['taken'])
    for (let n = 1; n < 10; n++) await expect(patient(recordsOf('abc'))).rejects.toThrow('API service')
    expect(await kindsOf(patient(recordsOf('abc')))).toEqual(['taken', 'taken', 'taken'])
  },
)

test('one that fails alone is refused too, once another has been taken before it', async () => {
  answers((ids, path) => (ids.includes('b') ? { status: 500 } : taken(ids, path)))
  const patient = rejectPoisonRecords(post)
  for (let n = 0; n < 20; n++) await expect(patient(recordsOf('b'))).rejects.toThrow('500')
  await patient(recordsOf('a'))
  for (let n = 1; n < 10; n++) await expect(patient(recordsOf('b'))).rejects.toThrow('500')
  expect(await kindsOf(patient(recordsOf('b')))).toEqual(['refused'])
})

test('one that a firewall refuses is so too when it is the first and comes alone: the service says that it is there', async () => {
  answers((ids) => (ids.length === 0 ? { status: 422, body: { detail: 'no id' } } : { status: 403 }))
  const patient = rejectPoisonRecords(post)
  // More tries than beside other records: a firewall that refuses all records would accept this empty one.
  for (let n = 1; n < 10; n++) await expect(patient(recordsOf('b'))).rejects.toThrow('403')
  expect(await kindsOf(patient(recordsOf('b')))).toEqual(['refused'])
})

test('a gateway that is locked out refuses none, and knocks for some of its records alone', async () => {
  answers(() => ({ status: 403 }))
  const patient = rejectPoisonRecords(post)
  const many = Array.from({ length: 100 }, (_, at) => Buffer.from(`{"id":"r${at}"}`))
  for (let n = 0; n < 3; n++) await expect(patient(many)).rejects.toThrow('403')
  expect(posted).toHaveLength(3 + 8)
  for (let n = 0; n < 9; n++) await expect(patient(recordsOf('a'))).rejects.toThrow('403')
})

test('a 403 by the service itself is about the credential: it waits', async () => {
  answers((ids, path) =>
    ids.includes('b') ? { status: 403, body: { detail: 'scope', code: 'KEY_SCOPE' } } : taken(ids, path),
  )
  const patient = rejectPoisonRecords(post)
  for (let n = 0; n < 25; n++) await expect(patient(recordsOf('abc'))).rejects.toThrow('scope')
})

test('what begins to fail while records are tried alone loses none of those behind', async () => {
  let isDown = false
  answers((ids, path) => {
    if (path.endsWith('batch')) return { status: 500 }
    if (ids[0] === 'c') isDown = true
    return isDown ? { status: 500 } : taken(ids, path)
  })
  const patient = rejectPoisonRecords(post)
  await patient(recordsOf('a'))
  for (let n = 1; n < 10; n++) await expect(patient(recordsOf('abcde'))).rejects.toThrow('500')
  expect(await kindsOf(patient(recordsOf('abcde')))).toEqual(['taken', 'taken', 'later', 'later', 'later'])
})

test.each([500, 503])('a service that answers everything %i has no record refused', async (status) => {
  answers(() => ({ status }))
  const patient = rejectPoisonRecords(post)
  for (let n = 0; n < 25; n++) await expect(patient(recordsOf('abc'))).rejects.toThrow(String(status))
  await expect(patient(recordsOf('a'))).rejects.toThrow(String(status))
})

test('a fault of the moment costs no record, and one that goes away meanwhile leaves the rest for later', async () => {
  let posts = 0
  answers((ids, path) => {
    if (path.endsWith('batch')) return { status: 500 }
    posts++
    // Two posts of `a`, then one of this record.
    if (ids[0] === 'b' && posts === 3) return { status: 500 }
    return ids[0] === 'd' ? { status: 503 } : taken(ids, path)
  })
  const patient = rejectPoisonRecords(post)
  for (let n = 1; n < 10; n++) await expect(patient(recordsOf('abcde'))).rejects.toThrow('500')
  expect(await kindsOf(patient(recordsOf('abcde')))).toEqual(['taken', 'taken', 'taken', 'later', 'later'])
})

test('one that a batch answers 500 for alone is refused after ten times too', async () => {
  answers((ids) => ({
    status: 200,
    body: {
      results: ids.map((id) => (id === 'b' ? { status_code: 500, detail: 'x' } : { id, status: 'queued' })),
    },
  }))
  const patient = rejectPoisonRecords(post)
  for (let n = 1; n < 10; n++) expect(await kindsOf(patient(recordsOf('ab')))).toEqual(['taken', 'later'])
  expect(await kindsOf(patient(recordsOf('ab')))).toEqual(['taken', 'refused'])
})

test.each([401, 403, 404, 500])('%i is no word about a record: none is refused, all stay', async (status) => {
  answers((_ids, path) => ({ status: path.endsWith('batch') && status === 404 ? 401 : status }))
  await expect(post(recordsOf('a'))).rejects.toMatchObject({ status })
  await expect(post(recordsOf('ab'))).rejects.toThrow('the API service answered')
})

test('a batch that is refused whole goes one by one, so that one record refuses no other', async () => {
  answers((ids, path) =>
    ids.includes('b') ? { status: path.endsWith('batch') ? 400 : 422 } : taken(ids, path),
  )
  expect(await kindsOf(post(recordsOf('abc')))).toEqual(['taken', 'refused', 'taken'])
})

test('in the answer to a batch each record has its own verdict', async () => {
  const statuses: Record<string, number> = { b: 429, c: 422, d: 500, e: 503 }
  const result = (id: string) =>
    statuses[id] === undefined ? { id, status: 'queued' } : { status_code: statuses[id], detail: 'x' }
  answers((ids) => ({ status: 200, body: { results: ids.map(result) } }))
  expect(await post(recordsOf('abcde'))).toEqual([
    { kind: 'taken' },
    { kind: 'over_quota' },
    { kind: 'refused', status: 422, detail: 'x' },
    { kind: 'later', status: 500 },
    { kind: 'later' },
  ])
})

test('an answer for fewer or more records than were sent takes none', async () => {
  for (const count of [1, 3]) {
    const results = Array.from({ length: count }, () => ({ id: 'a', status: 'queued' }))
    answers(() => ({ status: 200, body: { results } }))
    await expect(post(recordsOf('ab'))).rejects.toThrow('sent an invalid answer')
  }
})

test.each([
  ['86400', 60_000],
  ['Wed, 21 Oct 2026 07:28:00 GMT', 0],
])('of Retry-After: %s it waits %i ms', async (value, retryAfterMs) => {
  answers(() => ({ status: 503, headers: { 'retry-after': value } }))
  await expect(post(recordsOf('a'))).rejects.toMatchObject({ retryAfterMs })
})
