import { hashedId, idTimeMs } from '#schemas/ids.ts'
import { redteamMetadata } from '#schemas/redteam-run.ts'
import type { RedteamRun } from '../stores/run-store.ts'
import type { MadeAttempt } from '../running/make-attempt.ts'
import type { PlannedAttempt } from './plan-attempts.ts'

/** The request of a turn before the last, counted from 0. The last one's is the attempt's own. */
export function turnRequestId(attemptId: string, turn: number): string {
  return hashedId('request', idTimeMs(attemptId), ['redteam_turn', attemptId, String(turn)])
}

/**
 * The records of an attempt: a request record for each turn, like production's, marked as the red team's. The
 * last is the attempt's own and always there.
 */
export function makeRecords(
  run: Pick<RedteamRun, 'id' | 'projectId' | 'agentName' | 'options'>,
  attempt: PlannedAttempt,
  { last, earlier }: MadeAttempt,
): object[] {
  const record = (id: string, turn: number, made: MadeAttempt['last']) => {
    const bodies = made.kind === 'answered' || made.kind === 'failed' ? made : undefined
    return {
      id,
      project_id: run.projectId,
      source: 'redteam',
      agent_name: run.agentName,
      session_id: run.id,
      request_body: bodies?.requestBody ?? {},
      ...(bodies === undefined || bodies.responseBody === null ? {} : { response_body: bodies.responseBody }),
      latency_ms: bodies?.latencyMs ?? null,
      status_code: bodies?.statusCode ?? null,
      error: 'error' in made ? made.error : null,
      metadata: {
        [redteamMetadata.run]: run.id,
        [redteamMetadata.probe]: attempt.probeId,
        [redteamMetadata.category]: attempt.category,
        [redteamMetadata.transformation]: attempt.transformation,
        [redteamMetadata.repeat]: attempt.repeat,
        [redteamMetadata.attempt]: attempt.requestId,
        [redteamMetadata.turn]: turn + 1,
        ...(run.options.alert ? { [redteamMetadata.alert]: true } : {}),
      },
    }
  }
  return [
    ...earlier.map((made, turn) => record(turnRequestId(attempt.requestId, turn), turn, made)),
    record(attempt.requestId, earlier.length, last),
  ]
}
