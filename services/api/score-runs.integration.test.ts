import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

let api: RunningApi

beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const order = async (...scorers: string[]) => {
  const body = { start: '2026-01-01', end: '2026-01-02', scorers }
  const { status, json } = await api.call('POST', '/api/score-runs', { operator: true, body })
  return { status, json, problem: (json['run'] as { problem: string | null } | undefined)?.problem }
}

test('history can be scored by a custom scorer that is new, and the run says that nobody has seen it', async () => {
  const { status, problem } = await order('our_words', 'pii_detection')
  expect(status).toBe(200)
  expect(problem).toContain('"our_words"')
  expect(problem).not.toContain('pii_detection')
})

test('and an order that is only tried says it, too', async () => {
  const tried = async (...scorers: string[]) => {
    const body = { start: '2026-01-01', end: '2026-01-02', scorers, dry_run: true }
    return (await api.call('POST', '/api/score-runs', { operator: true, body })).json
  }
  expect(await tried('our_words')).toMatchObject({
    run: null,
    problem: expect.stringContaining('"our_words"'),
  })
  expect(await tried('hallucination')).toMatchObject({ run: null, problem: null })
})

test('of scorers that are built in, or have scored, a run says nothing', async () => {
  const { projectId } = await api.createProject()
  await seedRequest(api.pool, createSealer([]), {
    projectId,
    scores: [{ scorer: 'known_words', value: 1, label: 'safe' }],
  })
  expect(await order('known_words', 'hallucination')).toMatchObject({ status: 200, problem: null })
})

test('a name that is nearly that of a built-in scorer is a mistake', async () => {
  const { status, json } = await order('our_words', 'pii_detecton')
  expect(status).toBe(422)
  expect(json['errors']).toMatchObject([
    { path: 'scorers', message: expect.stringContaining('"pii_detection"') },
  ])
})
