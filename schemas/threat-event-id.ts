import { hashedId, idTimeMs } from './ids.ts'

interface ScoreOfCall {
  project_id: string
  request_id: string
  score_id: string
}

/** The `threat_detected` of an unsafe score: the same whenever it is raised again, and to be found again without being stored with the score. */
export function threatEventId({ project_id, request_id, score_id }: ScoreOfCall): string {
  return hashedId('event', idTimeMs(request_id), ['threat_detected', project_id, score_id])
}
