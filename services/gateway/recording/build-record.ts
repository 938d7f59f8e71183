import { errorOfAnswer } from '#capture/answer-error.ts'
import { fieldAt, textOf } from '#capture/json.ts'
import { providerOfUpstream } from '#capture/providers.ts'
import type { OnDefect } from '#capture/record/raw-answer.ts'
import type { Arrivals } from '#capture/streams/arrivals.ts'
import type { Caller } from '../traffic/authorize.ts'
import type { CallLabels } from '../traffic/service-headers.ts'
import { answerJson, type AnswerJson } from './answer-json.ts'
import { requestJson, type BodyJson } from './body-json.ts'
import type { CapturedBytes } from './captured-body.ts'
import { derivedFields } from './derived-fields.ts'

/** One call that is over, as the gateway saw it. Times are in milliseconds. */
export interface FinishedCall {
  id: string
  caller: Caller
  path: string
  labels: CallLabels
  request: CapturedBytes
  /** The request's Content-Encoding, empty without one. */
  requestEncoding: string
  /** Null: there was no answer. */
  answer: (CapturedBytes & { contentType: string; contentEncoding: string }) | null
  /** What the application got: the provider's status, or the gateway's own when it had no answer; null when nothing was sent. */
  status: number | null
  latencyMs: number
  /** When the answer came; null where that cannot be told of what stands in it. */
  arrivals: Arrivals | null
  /** Who broke it off, null when it is whole. */
  abortedBy: 'client' | 'upstream' | null
  error: string | null
}

const between = Buffer.from(',"response_body":')
const noBody = Buffer.from('null')
const closingBrace = 0x7d

/**
 * The record of a call, as JSON bytes for `POST /internal/log`. Model, tokens and cost are left to ingest, which reads them from
 * the bodies; only what the bodies cannot say is added: of an answer that was cut, its tokens too.
 */
export function buildRecord(
  call: FinishedCall,
  upstreamHost: string,
  maxBytes: number,
  onDefect: OnDefect,
): Buffer | Promise<Buffer> {
  const request = requestJson(call.request, call.requestEncoding, maxBytes)
  const answer = call.answer === null ? null : answerJson(call.answer, maxBytes, onDefect)
  if (!(request instanceof Promise) && !(answer instanceof Promise))
    return joinRecord(call, upstreamHost, request, answer)
  return Promise.all([request, answer]).then(([asked, answered]) =>
    joinRecord(call, upstreamHost, asked, answered),
  )
}

function joinRecord(
  call: FinishedCall,
  upstreamHost: string,
  request: BodyJson,
  answer: AnswerJson | null,
): Buffer {
  // A client may close as soon as it has read the end mark of a stream, or the provider's error in it: that is no abort.
  const abortedBy = answer?.streamEnded === true ? null : call.abortedBy
  const { metadata, ...labels } = call.labels
  const known = answer?.value ?? answer?.known
  const derived = answer?.known && derivedFields(request.value, answer.known)
  const fields = {
    id: call.id,
    project_id: call.caller.projectId,
    source: 'gateway',
    ...labels,
    ...derived,
    provider: providerOfUpstream(upstreamHost, call.path) ?? derived?.provider,
    model: modelOfPath(call.path, request.value, known) ?? derived?.model,
    status_code: isStatus(call.status) ? call.status : null,
    latency_ms: rounded(call.latencyMs),
    time_to_first_token_ms: rounded(
      answer?.firstWordsEnd === undefined ? null : call.arrivals?.timeOf(answer.firstWordsEnd),
    ),
    aborted_by: abortedBy,
    error: errorOf(call, abortedBy !== null, known),
  }
  const head = JSON.stringify(fields).slice(0, -1)
  const start = `${head}${metadata === undefined ? '' : `,"metadata":${metadata}`},"request_body":`
  return joined(start, request.json, answer?.json ?? noBody)
}

/** In one allocation: parts that are joined afterwards are allocated twice. */
function joined(start: string, request: Buffer, answer: Buffer): Buffer {
  const startBytes = Buffer.byteLength(start)
  const record = Buffer.allocUnsafe(startBytes + request.length + between.length + answer.length + 1)
  record.write(start)
  request.copy(record, startBytes)
  between.copy(record, startBytes + request.length)
  answer.copy(record, startBytes + request.length + between.length)
  record[record.length - 1] = closingBrace
  return record
}

const deploymentPath = /\/deployments\/([^/?]{1,256})\/|\/model\/([^/?]{1,256})\/(?:invoke|converse)/

/** Per-deployment paths name what the body need not. */
function modelOfPath(path: string, request: unknown, answer: unknown): string | undefined {
  if (textOf(fieldAt(request, 'model')) !== undefined || textOf(fieldAt(answer, 'model')) !== undefined)
    return undefined
  const [, azures, bedrocks] = deploymentPath.exec(path) ?? []
  const deployment = azures ?? bedrocks
  // A name that is percent-encoded wrongly is taken as it stands.
  return deployment === undefined ? undefined : decodePercent(deployment)
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text).replaceAll('\u0000', '')
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}

/** The gateway's own reason, else what the provider says of a failure. */
function errorOf(call: FinishedCall, isAborted: boolean, answer: unknown): string | null {
  if (call.error !== null && (isAborted || call.answer === null)) return call.error
  const said = errorOfAnswer(answer, call.status)
  return said === null && !isStatus(call.status) ? `the provider answered with status ${call.status}` : said
}

/** Ingest takes those that HTTP has; a provider may send others. */
function isStatus(status: number | null): boolean {
  return status === null || status < 600
}

function rounded(milliseconds: number | null | undefined): number | null {
  return milliseconds === null || milliseconds === undefined ? null : Math.round(milliseconds * 1_000) / 1_000
}
