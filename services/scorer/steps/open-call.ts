import { hasManyParts } from '#capture/json.ts'
import { PermanentError } from '#runtime/errors.ts'
import type { Sealer } from '#runtime/sealing.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { heapBytesOf, parseBody, readCall, type Body, type Call } from '#detectors/call-text.ts'
import type { UnscoredReason } from '#schemas/unscored.ts'

/** What is read of a job. */
export type OpenableJob = Pick<
  ScoreJob,
  | 'project_id'
  | 'request_id'
  | 'request_body'
  | 'response_body'
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'reasoning_tokens'
  | 'cost_usd'
  | 'aborted_by'
  | 'metadata'
  | 'masked'
>

/** A job's opened but unread call, or why it cannot be read. */
export type OpenedCall = { unreadable: UnscoredReason } | { heapBytes: number; chars: number; read(): Call }

/**
 * Opens a job's bodies. It and `read` throw PermanentError if a body cannot be opened (`CANNOT_OPEN`) or is
 * no JSON (`BODY_NOT_JSON`): no verdict would be honest, and the record can be replayed once the key is
 * there. Calls from `smallBytes` on are released until read: sixteen waiting calls of 10 MiB would hold 160
 * to 320 MB; reopening one takes 17 ms of CPU.
 */
export function openCall(job: OpenableJob, sealer: Sealer, smallBytes: number): OpenedCall {
  const texts = openBodies(job, sealer)
  if (texts.request === null) return { unreadable: 'bodies_missing' }
  // Ingest refuses these now, but Kafka (for days) and Postgres (for replays) still have older ones.
  if (hasManyParts(texts.request) || hasManyParts(texts.response ?? ''))
    return { unreadable: 'too_many_parts' }
  const heapBytes = heapBytesOf(texts.request) + heapBytesOf(texts.response ?? '')
  const chars = texts.request.length + (texts.response?.length ?? 0)
  return {
    heapBytes,
    chars,
    read: heapBytes < smallBytes ? readerOf(job, texts) : readerOfClosed(job, sealer),
  }
}

/** A lower bound of the bodies' UTF-16 units, from their sealed sizes. Opens nothing. */
export function minCharsOf(job: ScoreJob, sealer: Sealer): number {
  const bytesOf = (part: Part) => {
    const sealed = job[part]
    if (sealed === null) return 0
    return sealer.sizeOf(sealed, sealedIdentity(job.project_id, job.request_id, part)) ?? 0
  }
  // A unit takes at most three bytes of UTF-8.
  return Math.floor((bytesOf('request_body') + bytesOf('response_body')) / 3)
}

interface Texts {
  request: string | null
  response: string | null
}

// A function of its own: closures of one function share and retain all captured variables.
function readerOf(job: OpenableJob, texts: Texts): () => Call {
  return () => readBodies(job, texts)
}

function readerOfClosed(job: OpenableJob, sealer: Sealer): () => Call {
  return () => readBodies(job, openBodies(job, sealer))
}

function openBodies(job: OpenableJob, sealer: Sealer): Texts {
  return {
    request: openBody(job, 'request_body', sealer),
    response: openBody(job, 'response_body', sealer),
  }
}

function readBodies(job: OpenableJob, { request, response }: Texts): Call {
  const { prompt_tokens, completion_tokens, reasoning_tokens, cost_usd, aborted_by, metadata, masked } = job
  // Picked: the call may be copied to a thread, and must not take its sealed bodies along.
  const usage = { prompt_tokens, completion_tokens, reasoning_tokens, cost_usd, aborted_by, metadata, masked }
  return readCall(readBody('request_body', request), readBody('response_body', response), usage)
}

type Part = 'request_body' | 'response_body'

function openBody(job: OpenableJob, part: Part, sealer: Sealer): string | null {
  const sealed = job[part]
  if (sealed === null) return null
  return sealer.open(sealed, sealedIdentity(job.project_id, job.request_id, part)).toString('utf8')
}

function readBody(part: Part, json: string | null): Body | null {
  if (json === null) return null
  try {
    return parseBody(json)
  } catch (error) {
    throw new PermanentError('BODY_NOT_JSON', `${part} is not JSON`, { cause: error })
  }
}
