import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { MockAgent } from 'undici'
import { createLog } from '#runtime/log.ts'
import { createProjectKeys, resolveByApi, type ResolvedKey } from './project-keys.ts'

const digits = 'AB12'.repeat(12)
const ourKey = `svc_live_${digits}`
const projectKey: ResolvedKey = { projectId: 'prj_1', isEphemeral: false, scope: 'all', expiresMs: null }
let nowMs: number
let asked: string[]
let answer: () => Promise<ResolvedKey | null>

beforeEach(() => {
  nowMs = 1_000_000
  asked = []
  answer = () => Promise.resolve(projectKey)
})

const keys = () =>
  createProjectKeys({
    log: createLog('gateway-test', 'silent'),
    now: () => nowMs,
    resolve: (sha256) => {
      asked.push(sha256)
      return answer()
    },
  })
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('a key is asked about once, by the hash of its digits in lower case, whatever its label', async () => {
  const authorize = keys()
  const callers = await Promise.all([ourKey, ourKey, ourKey].map(async (each) => authorize(each)))
  expect(new Set(callers.map((caller) => JSON.stringify(caller)))).toEqual(
    new Set(['{"projectId":"prj_1","isEphemeral":false}']),
  )
  expect(authorize(`svc_${digits.toLowerCase()}`)).toEqual({ projectId: 'prj_1', isEphemeral: false })
  expect(asked).toEqual(['e0b3dca96853b1ff3576c5845db383358e5bb22273433d1c6476ca8ba4de6a53'])
})

test.each(['other', `svc_${digits}0`, `Bearer svc_${digits}`, ''])(
  '%j is nobody, and nobody is asked',
  (key) => {
    expect(keys()(key)).toBe('unknown')
    expect(asked).toEqual([])
  },
)

test('of a project that keeps no content every call is told so', async () => {
  answer = () => Promise.resolve({ ...projectKey, isEphemeral: true })
  const authorize = keys()
  for (let call = 0; call < 2; call++)
    expect(await authorize(ourKey)).toEqual({ projectId: 'prj_1', isEphemeral: true })
})

test("a key that was nobody's and is made now opens, and stays open", async () => {
  answer = () => Promise.resolve(null)
  const authorize = keys()
  expect(await authorize(ourKey)).toBe('unknown')
  answer = () => Promise.resolve(projectKey)
  nowMs += 60_000
  for (let call = 0; call < 2; call++)
    expect(await authorize(ourKey)).toEqual({ projectId: 'prj_1', isEphemeral: false })
})

describe('the API service', () => {
  const agent = new MockAgent()
  agent.disableNetConnect()
  const resolve = resolveByApi('http://api.test', 'secret', agent)
  const answers = (status: number, body: unknown) =>
    agent
      .get('http://api.test')
      .intercept({ path: '/internal/keys/resolve', method: 'POST' })
      .reply(status, body as object)
  afterAll(() => agent.close())

  test.each([true, false])(
    'says whose a key is, and whether content is kept: not %s',
    async (isEphemeral) => {
      const expires_at = '2026-11-21T00:00:00.000Z'
      answers(200, { project_id: 'prj_1', zero_content_retention: isEphemeral, scope: 'ingest', expires_at })
      const expiresMs = Date.parse(expires_at)
      expect(await resolve('ab')).toEqual({ projectId: 'prj_1', isEphemeral, scope: 'ingest', expiresMs })
    },
  )

  test('knows no such key only where it says so: another 404 or a failure is none of the key', async () => {
    answers(404, { detail: 'no such key', code: 'KEY_UNKNOWN' })
    expect(await resolve('ab')).toBeNull()
    for (const status of [404, 401, 500]) {
      answers(status, { detail: 'no such route', code: 'OTHER' })
      await expect(resolve('ab')).rejects.toThrow(String(status))
    }
  })
})

test('made-up keys push out none that is in use', async () => {
  const authorize = keys()
  await authorize(ourKey)
  answer = () => Promise.resolve(null)
  const madeUp = Array.from({ length: 10_001 }, (_, n) => `svc_${String(n).padStart(48, '0')}`)
  await Promise.all(madeUp.map(async (key) => authorize(key)))
  expect(authorize(ourKey)).toEqual({ projectId: 'prj_1', isEphemeral: false })
})

test('a revoked key is refused within a minute', async () => {
  const authorize = keys()
  await authorize(ourKey)
  answer = () => Promise.resolve(null)
  nowMs += 59_999
  expect(await authorize(ourKey)).toBe('unknown')
})

test('a revoked key is refused also when the clock was set back by an hour', async () => {
  const authorize = keys()
  await authorize(ourKey)
  answer = () => Promise.resolve(null)
  nowMs -= 3_600_000
  expect(await authorize(ourKey)).toBe('unknown')
})

test('an answer is renewed behind the calls', async () => {
  const authorize = keys()
  await authorize(ourKey)
  answer = () => Promise.resolve(null)
  nowMs += 31_000
  expect(authorize(ourKey)).toEqual({ projectId: 'prj_1', isEphemeral: false })
  await settled()
  expect(authorize(ourKey)).toBe('unknown')
  expect(asked).toHaveLength(2)
})

test('while the service is away the last answer stands, and it is not asked with every call', async () => {
  const authorize = keys()
  await authorize(ourKey)
  answer = () => Promise.reject(new Error('away'))
  for (let call = 0; call < 5; call++) {
    nowMs += 60_000
    for (let again = 0; again < 4; again++) {
      expect(await authorize(ourKey)).toEqual({ projectId: 'prj_1', isEphemeral: false })
      await settled()
      nowMs += 1_000
    }
  }
  // Once a minute although there are four calls; the next may follow after five seconds.
  expect(asked).toHaveLength(1 + 5)
  expect(await authorize(`svc_${'0'.repeat(48)}`)).toBe('unavailable')
  answer = () => Promise.resolve(null)
  nowMs += 5_000
  await authorize(ourKey)
  await settled()
  expect(await authorize(ourKey)).toBe('unknown')
})

test('the last answer stands for a day, then nobody knows', async () => {
  const authorize = keys()
  await authorize(ourKey)
  answer = () => Promise.reject(new Error('away'))
  for (let minute = 1; minute < 1_440; minute += 60) {
    nowMs += minute === 1 ? 59 * 60_000 : 3_600_000
    expect(await authorize(ourKey)).toEqual({ projectId: 'prj_1', isEphemeral: false })
  }
  // Renewed by a call before the day ends, in the background of the next.
  for (const stepMs of [35_000, 26_000]) {
    nowMs += stepMs
    expect(await authorize(ourKey)).toEqual({ projectId: 'prj_1', isEphemeral: false })
    await settled()
  }
  nowMs += 5_000
  expect(await authorize(ourKey)).toBe('unavailable')
  answer = () => Promise.resolve(projectKey)
  expect(await authorize(ourKey)).toEqual({ projectId: 'prj_1', isEphemeral: false })
})

test('while the service is away a clock that is set back by an hour stops no application, and the day starts over', async () => {
  const authorize = keys()
  await authorize(ourKey)
  answer = () => Promise.reject(new Error('away'))
  nowMs -= 3_600_000
  expect(await authorize(ourKey)).toEqual({ projectId: 'prj_1', isEphemeral: false })
  nowMs += 86_400_000
  expect(await authorize(ourKey)).toBe('unavailable')
})

test.each([
  ['that may only read', { scope: 'read' }],
  ['that has expired', { expiresMs: 1_000_000 }],
])('a key %s calls no model', async (_name, more) => {
  answer = () => Promise.resolve({ ...projectKey, ...more })
  expect(await keys()(ourKey)).toBe('unknown')
})
