import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { foldAll } from '#services/sink/testing/fold-all.ts'
import { sampleCall, sampleScoredCall } from '#services/sink/testing/sample-records.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** The start of a day: its hours and days are known. */
const day = Math.floor(Date.now() / dayMs) * dayMs - 2 * dayMs
let api: RunningApi

beforeAll(async () => {
  api = await startApi()
})

afterAll(async () => {
  jest.restoreAllMocks()
  await api.stop()
})

test('what has been counted by the day is answered as it was by the hour, and what comes late is in it at once', async () => {
  const late = await api.createProject()
  const storage = createCallStorage(api.pool)
  const make = (hours: number, changes: Partial<LoggedCall> = {}) =>
    sampleCall(late.projectId, { id: newId('request', day + hours * hourMs), ...changes })
  const scored = [
    make(-15),
    make(-3),
    make(2, { tool_names: ['search'] }),
    make(26, { tool_name: 'mail' }),
    make(47),
  ]
  await storage.calls(scored)
  await storage.scores(scored.map((call) => sampleScoredCall(call)))
  // From within one day to within another, and whole days.
  const ranges = [[-10, 40] as const, [0, 24] as const, [-24, 48] as const].map(
    ([from, to]) =>
      `start=${new Date(day + from * hourMs).toISOString()}&end=${new Date(day + to * hourMs).toISOString()}`,
  )
  const paths = [
    'stats?step=1d&by=scorer',
    'stats?step=1d',
    'requests/facets?',
    'tools?',
    'safety-scores/summary?',
  ]
  const answers = () =>
    Promise.all(
      paths.flatMap((path) =>
        ranges.map(async (query) => {
          const { status, json } = await api.call('GET', `/api/${path}&${query}`.replace('?&', '?'), late)
          return { path, query, status, json }
        }),
      ),
    )
  // Days are counted two hours after their end.
  const fold = () => foldAll(api.pool, 3)
  const countedByDay = async () => {
    const { rows } = await api.pool.query<{ days: number }>(
      'select count(distinct hour)::integer as days from call_rollups_by_day where project_id = $1',
      [idToUuid(late.projectId)],
    )
    return rows[0]?.days
  }
  const byHour = await answers()
  expect(new Set(byHour.map(({ status }) => status))).toEqual(new Set([200]))
  expect(await countedByDay()).toBe(0)
  await fold()
  expect(await countedByDay()).toBe(3)
  // The API refreshes the list of counted days once a minute.
  const { now } = Date
  jest.spyOn(Date, 'now').mockImplementation(() => now() + 61_000)
  expect(await answers()).toEqual(byHour)

  await storage.calls([make(3, { tool_name: 'seldom' })])
  const withLate = await answers()
  expect(withLate).not.toEqual(byHour)
  await fold()
  expect(await answers()).toEqual(withLate)
  // Uses the day's roll-ups: otherwise their rows would not matter.
  await api.pool.query('delete from call_rollups_by_day')
  expect(await answers()).not.toEqual(withLate)
})
