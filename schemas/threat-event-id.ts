import { hashedId, idTimeMs } from './ids.ts'

interface ScoreOfCall {
  project_id: string
  request_id: string
  score_id: string
}

/**
 * The identifier of the `threat_detected` of an unsafe score. Derived, so it is the same when raised again
 * and needs no column.
 */
export function threatEventId({ project_id, request_id, score_id }: ScoreOfCall): string {
  return hashedId('event', idTimeMs(request_id), ['threat_detected', project_id, score_id])
}
