import { PermanentError } from '#runtime/errors.ts'
import { isId, type IdKind } from '#schemas/ids.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'

/** Throws PermanentError `INVALID_IDENTIFIER` with the field's name if the scores could not be stored. */
export function checkIdentity(job: ScoreJob): void {
  const fields: readonly [IdKind, 'project_id' | 'request_id' | 'run_id'][] = [
    ['project', 'project_id'],
    ['request', 'request_id'],
    ['run', 'run_id'],
  ]
  for (const [kind, field] of fields) {
    if (!isId(kind, job[field]))
      throw new PermanentError('INVALID_IDENTIFIER', `${field} is not a valid identifier`)
  }
}
