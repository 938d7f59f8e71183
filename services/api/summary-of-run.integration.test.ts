import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { liveRunId, newId } from '#schemas/ids.ts'
import { sampleCall, sampleScore, sampleScoredCall } from '#services/sink/testing/sample-records.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'

let api: RunningApi

beforeAll(async () => {
  api = await startApi()
})

afterAll(() => api.stop())

test('GET /api/safety-scores/summary counts the scores of the run that is asked for, else those of the live run', async () => {
  const { projectId, key } = await api.createProject()
  const foreign = await api.createProject()
  const storage = createCallStorage(api.pool)
  const runId = newId('run')
  const calls = [sampleCall(projectId), sampleCall(projectId)]
  const safe = { score_value: 1, score_label: 'safe', severity: null } as const
  await storage.calls(calls)
  await storage.scores([
    ...calls.map((call) => sampleScoredCall(call)),
    ...calls.slice(1).map((call) => {
      const score = sampleScore(projectId, call.id, { id: newId('score'), ...safe })
      return sampleScoredCall(call, { run_id: runId, scores: [score] })
    }),
  ])
  const countsOf = async (query: string, caller: object = { key }) => {
    const { json, status } = await api.call('GET', `/api/safety-scores/summary${query}`, caller)
    const scorers = json['scorers'] as Record<string, unknown>[] | undefined
    return [status, scorers?.map(({ scorer_name, total, unsafe }) => [scorer_name, total, unsafe])]
  }
  const live = [200, [['pii_detection', 2, 2]]]
  const ofRun = [200, [['pii_detection', 1, 0]]]
  const none = [200, []]
  expect(await countsOf('')).toEqual(live)
  expect(await countsOf(`?run_id=${liveRunId(projectId)}`)).toEqual(live)
  expect(await countsOf(`?run_id=${runId}`)).toEqual(ofRun)
  expect(await countsOf(`?run_id=${runId}&project_id=${projectId}`, { operator: true })).toEqual(ofRun)
  // As the list answers.
  expect(await countsOf(`?run_id=${newId('run')}`)).toEqual(none)
  for (const run of [runId, liveRunId(projectId)])
    expect([run, await countsOf(`?run_id=${run}`, { key: foreign.key })]).toEqual([run, none])
  expect(await countsOf('?run_id=latest')).toEqual([422, undefined])
})
