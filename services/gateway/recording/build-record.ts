import { errorOfAnswer } from '#capture/answer-error.ts'
import { labelsOfCodingAgent, type CallHeaders } from '#capture/coding-agents.ts'
import { modelOf } from '#capture/describe-call.ts'
import { decodeName, modelCallAt } from '#capture/model-calls.ts'
import { providerOfUpstream } from '#capture/providers.ts'
import type { OnDefect } from '#capture/record/raw-answer.ts'
import type { Arrivals } from '#capture/streams/arrivals.ts'
import type { TraceContext } from '#runtime/tracing/tracing.ts'
import type { KeyCheck } from '../budgets/key-guard.ts'
import type { Caller } from '../traffic/authorize.ts'
import type { CallLabels } from '../traffic/service-headers.ts'
import type { UpstreamKind } from '../upstreams/upstreams-file.ts'
import { answerJson, type AnswerJson } from './answer-json.ts'
import { requestJson, type BodyJson } from './body-json.ts'
import type { CapturedBytes } from './captured-body.ts'
import { derivedFields } from '#capture/record/derived-fields.ts'
import { toolRecord, type ToolExchange } from './mcp/tool-record.ts'

/** A finished call as the gateway saw it. Times are in milliseconds. */
export interface FinishedCall {
  id: string
  caller: Caller
  path: string
  upstream: { hostname: string; provider: string | undefined; name?: string; kind?: UpstreamKind }
  labels: CallLabels
  /** As the application sent them; coding agents name their session there. */
  headers?: CallHeaders | undefined
  /** What its record goes on; undefined where traces are off. */
  trace?: TraceContext | undefined
  request: CapturedBytes
  /** Content-Encoding of the request; empty without one. */
  requestEncoding: string
  /** Null: no answer. */
  answer: (CapturedBytes & { contentType: string; contentEncoding: string; isMedia?: boolean }) | null
  /** Status that the application received: the provider's, or the gateway's own. Null if none was sent. */
  status: number | null
  latencyMs: number
  /** Arrival times of the answer's bytes; null for compressed answers. */
  arrivals: Arrivals | null
  /** Who aborted the answer; null if it is complete. */
  abortedBy: 'client' | 'upstream' | null
  error: string | null
  /** Of an exchange with an MCP server: what is recorded in place of the bodies. */
  tool?: ToolExchange
  /** Told what is known of the cost; undefined: the key has no budget. */
  check?: KeyCheck | undefined
}

const between = Buffer.from(',"response_body":')
const noBody = Buffer.from('null')
const closingBrace = 0x7d

/**
 * Builds the record of a call as JSON bytes for `POST /internal/log`. Ingest reads model, tokens and cost
 * from the bodies; the record adds only what the bodies lack, such as the tokens of a truncated answer.
 */
export function buildRecord(
  call: FinishedCall,
  maxBytes: number,
  onDefect: OnDefect,
): Buffer | Promise<Buffer> {
  if (call.tool !== undefined) {
    const { fields, metadata, request, response } = toolRecord(call, call.tool, maxBytes)
    return joined(startOf(fields, metadata), request, response ?? noBody)
  }
  const request = requestJson(call.request, call.requestEncoding, maxBytes)
  const answer = call.answer === null ? null : answerJson(call.answer, maxBytes, onDefect)
  if (!(request instanceof Promise) && !(answer instanceof Promise)) return joinRecord(call, request, answer)
  return Promise.all([request, answer]).then(([asked, answered]) => joinRecord(call, asked, answered))
}

function joinRecord(call: FinishedCall, request: BodyJson, answer: AnswerJson | null): Buffer {
  // A client may close right after the end mark or error of a stream: that is no abort.
  const abortedBy = answer?.streamEnded === true ? null : call.abortedBy
  const { metadata, ...labels } = call.labels
  const known = answer?.value ?? answer?.known
  const derived = answer?.known && derivedFields(request.value, answer.known)
  const fields = {
    id: call.id,
    project_id: call.caller.projectId,
    // Read from the start of the record (delivery/trace-of-record.ts).
    traceparent: call.trace?.traceparent,
    tracestate: call.trace?.tracestate,
    source: 'gateway',
    ...(call.headers && labelsOfCodingAgent(call.headers, request.value)),
    ...labels,
    ...derived,
    provider: providerOf(call) ?? derived?.provider,
    model: modelOfPath(call.path, request.value, known) ?? derived?.model,
    status_code: isStatus(call.status) ? call.status : null,
    latency_ms: rounded(call.latencyMs),
    time_to_first_token_ms: rounded(
      answer?.firstWordsEnd === undefined ? null : call.arrivals?.timeOf(answer.firstWordsEnd),
    ),
    aborted_by: abortedBy,
    error: errorOf(call, abortedBy !== null, known),
  }
  return joined(startOf(fields, metadata), request.json, answer?.json ?? noBody)
}

/** `metadata` is JSON. */
function startOf(fields: object, metadata: string | undefined): string {
  const head = JSON.stringify(fields).slice(0, -1)
  return `${head}${metadata === undefined ? '' : `,"metadata":${metadata}`},"request_body":`
}

function providerOf({ upstream, path }: FinishedCall): string | null {
  return upstream.provider ?? providerOfUpstream(upstream.hostname, path)
}

/** Writes into a single allocation, where joining parts would allocate twice. */
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

const deploymentPath = /\/deployments\/([^/?]{1,256})\//

/** Paths of Azure's deployments, Google and Bedrock name the model where the body does not. */
function modelOfPath(path: string, request: unknown, answer: unknown): string | undefined {
  if (modelOf(request, answer) !== null) return undefined
  const deployment = deploymentPath.exec(path)?.[1]
  const named = deployment === undefined ? modelCallAt('', path)?.model : decodeName(deployment)
  return named?.slice(0, 256)
}

/** The gateway's own reason, or else the provider's error. */
function errorOf(call: FinishedCall, isAborted: boolean, answer: unknown): string | null {
  if (call.error !== null && (isAborted || call.answer === null)) return call.error
  const said = errorOfAnswer(answer, call.status)
  return said === null && !isStatus(call.status) ? `the provider answered with status ${call.status}` : said
}

/** Ingest accepts HTTP statuses only; a provider may send others. */
function isStatus(status: number | null): boolean {
  return status === null || status < 600
}

function rounded(milliseconds: number | null | undefined): number | null {
  return milliseconds === null || milliseconds === undefined ? null : Math.round(milliseconds * 1_000) / 1_000
}
