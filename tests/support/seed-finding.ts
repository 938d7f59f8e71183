import type { RunningApi } from './start-api.ts'
import { storeFailingCall } from './store-failing-call.ts'

/** A finding of one failing call, which somebody has acknowledged. */
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
