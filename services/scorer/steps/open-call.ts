import { PermanentError } from '#runtime/errors.ts'
import type { Sealer } from '#runtime/sealing.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { sealedIdentity, type SealedBytes } from '#schemas/sealed-bytes.ts'
import { parseBody, readCall, type Body, type Call } from '../scoring/call-text.ts'

/**
 * Opens and reads the bodies of a job. `null` when the request's body is gone. Throws PermanentError when a body does not open
 * (`CANNOT_OPEN`) or is no JSON (`BODY_NOT_JSON`): no verdict would be honest, and the record can be sent back once the key is there.
 */
export function openCall(job: ScoreJob, sealer: Sealer): Call | null {
  const request = openBody(job, 'request_body', job.request_body, sealer)
  const response = openBody(job, 'response_body', job.response_body, sealer)
  return request === null ? null : readCall(request, response, job)
}

function openBody(
  { project_id, request_id }: ScoreJob,
  part: 'request_body' | 'response_body',
  sealed: SealedBytes | null,
  sealer: Sealer,
): Body | null {
  if (sealed === null) return null
  const bytes = sealer.open(sealed, sealedIdentity(project_id, request_id, part))
  try {
    return parseBody(bytes.toString('utf8'))
  } catch (error) {
    throw new PermanentError('BODY_NOT_JSON', `${part} is no JSON`, { cause: error })
  }
}
