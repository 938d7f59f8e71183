import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { newId } from '#schemas/ids.ts'
import { sampleCall } from '#services/sink/testing/sample-records.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'

const start = Date.now() - 20 * 60_000
let api: RunningApi
let storage: ReturnType<typeof createCallStorage>

beforeAll(async () => {
  api = await startApi()
  storage = createCallStorage(api.pool)
})

afterAll(() => api.stop())

test('what was cached and what was thought are tokens of a session too', async () => {
  const { projectId, key } = await api.createProject()
  const call = (atMs: number, cached_tokens: number | null, reasoning_tokens: number | null) =>
    sampleCall(projectId, {
      id: newId('request', atMs),
      session_id: 'thinking',
      ...{ prompt_tokens: 400, cached_tokens, completion_tokens: 50, reasoning_tokens },
    })
  await storage.calls([call(start, 9_600, 450), call(start + 1, null, null)])
  const { json } = await api.call('GET', '/api/sessions', { key })
  expect(json['items']).toMatchObject([{ session_id: 'thinking', total_tokens: 10_500 + 450 }])
  const one = await api.call('GET', '/api/sessions/thinking', { key })
  expect(one.json).toMatchObject({ total_tokens: 10_500 + 450 })
})
