import type { Pool } from 'pg'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { Score } from '#schemas/safety-score-recorded.ts'
import { sampleCall, sampleScore, sampleScoredCall } from '#services/sink/testing/sample-records.ts'
import type { RunningApi } from './start-api.ts'
import { createCallStorage } from './store-calls.ts'

/** Stores a failing call as the sink does; its finding is by agent. */
export async function storeFailingCall(
  pool: Pool,
  projectId: string,
  agent: string,
  score: Partial<Score> = {},
  changes: Partial<LoggedCall> = {},
): Promise<string> {
  const storage = createCallStorage(pool)
  const call = sampleCall(projectId, { agent_name: agent, ...changes })
  await storage.calls([call])
  const found = [{ kind: 'phone_number', tool: null, hash: Buffer.alloc(16, 7) }]
  const made = sampleScore(projectId, call.id, {
    ...{ severity: 'high', score_value: 4, found_values: found, ...score },
  })
  await storage.scores([sampleScoredCall(call, { scores: [made] })])
  return call.id
}

/** Stores a failing call and acknowledges its finding. Resolves to the finding and the change. */
export async function seedFinding(
  api: RunningApi,
  { projectId, key }: { projectId: string; key: string },
): Promise<{ findingId: string; changeId: string }> {
  await storeFailingCall(api.pool, projectId, 'agent')
  const { json } = await api.call('GET', '/api/findings', { key })
  const findingId = (json['items'] as { id: string }[])[0]?.id ?? ''
  const body = { state: 'acknowledged' }
  const changed = await api.call('PATCH', `/api/findings/${findingId}`, { key, body })
  return { findingId, changeId: String(changed.json['change_id']) }
}
