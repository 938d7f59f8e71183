import { redteamMetadata } from '#schemas/redteam-run.ts'
import type { RedteamRun } from '../stores/run-store.ts'
import type { MadeAttempt } from '../running/make-attempt.ts'
import type { PlannedAttempt } from './plan-attempts.ts'

/** What an attempt is recorded as: a request record like production's, marked as what it is. Bodies are objects. */
export function makeRecord(
  run: Pick<RedteamRun, 'id' | 'projectId' | 'agentName' | 'options'>,
  attempt: PlannedAttempt,
  { last }: MadeAttempt,
): object {
  const bodies = last.kind === 'answered' || last.kind === 'failed' ? last : undefined
  const error = 'error' in last ? last.error : null
  return {
    id: attempt.requestId,
    project_id: run.projectId,
    source: 'redteam',
    agent_name: run.agentName,
    session_id: run.id,
    request_body: JSON.parse(bodies?.requestBody ?? '{}') as object,
    ...(bodies === undefined || bodies.responseBody === null
      ? {}
      : { response_body: JSON.parse(bodies.responseBody) as object }),
    latency_ms: bodies?.latencyMs ?? null,
    status_code: bodies?.statusCode ?? null,
    error,
    metadata: {
      [redteamMetadata.run]: run.id,
      [redteamMetadata.probe]: attempt.probeId,
      [redteamMetadata.category]: attempt.category,
      [redteamMetadata.transformation]: attempt.transformation,
      [redteamMetadata.repeat]: attempt.repeat,
      ...(run.options.alert ? { [redteamMetadata.alert]: true } : {}),
    },
  }
}
