import { hasManyParts } from '#capture/json.ts'
import { PermanentError } from '#runtime/errors.ts'
import type { Sealer } from '#runtime/sealing.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { heapBytesOf, parseBody, readCall, type Body, type Call } from '../scoring/call-text.ts'
import type { UnscoredReason } from '../scoring/verdict.ts'

/** A job's call, opened and not yet read; or why it is not. */
export type OpenedCall = { unreadable: UnscoredReason } | { heapBytes: number; read(): Call }

/**
 * Opens the bodies of a job. They, and `read`, throw PermanentError when a body does not open (`CANNOT_OPEN`) or is no JSON (`BODY_NOT_JSON`):
 * no verdict would be honest, and the record can be sent back once the key is there.
 */
export function openCall(job: ScoreJob, sealer: Sealer): OpenedCall {
  const request = openBody(job, 'request_body', sealer)
  const response = openBody(job, 'response_body', sealer)
  if (request === null) return { unreadable: 'bodies_missing' }
  // Ingest takes no such records now; older ones are in Kafka for days, and in Postgres for replays.
  if (hasManyParts(request) || hasManyParts(response ?? '')) return { unreadable: 'too_many_parts' }
  return {
    heapBytes: heapBytesOf(request) + heapBytesOf(response ?? ''),
    read: () =>
      readCall(
        readBody('request_body', request),
        response === null ? null : readBody('response_body', response),
        job,
      ),
  }
}

type Part = 'request_body' | 'response_body'

function openBody(job: ScoreJob, part: Part, sealer: Sealer): string | null {
  const sealed = job[part]
  if (sealed === null) return null
  return sealer.open(sealed, sealedIdentity(job.project_id, job.request_id, part)).toString('utf8')
}

function readBody(part: Part, json: string): Body {
  try {
    return parseBody(json)
  } catch (error) {
    throw new PermanentError('BODY_NOT_JSON', `${part} is no JSON`, { cause: error })
  }
}
