import type { TraceContext } from '#runtime/tracing/tracing.ts'
import type { CallLabels } from '../../traffic/service-headers.ts'
import { bodyJson } from '../body-json.ts'

/** Bodies and error of a record that an exchange with an MCP server makes. */
export interface ToolExchange {
  request: object
  /** Null: nothing came. */
  response: object | null
  error: string | null
}

/** What the record has of the call itself. */
interface ToolCaller {
  id: string
  caller: { projectId: string | undefined }
  labels: CallLabels
  trace?: TraceContext | undefined
  latencyMs: number
  abortedBy: 'client' | 'upstream' | null
}

/** The fields of a tool call's record, and its bodies as JSON within the limit. */
export function toolRecord(call: ToolCaller, { request, response, error }: ToolExchange, maxBytes: number) {
  const { metadata, ...labels } = call.labels
  return {
    fields: {
      id: call.id,
      project_id: call.caller.projectId,
      traceparent: call.trace?.traceparent,
      tracestate: call.trace?.tracestate,
      source: 'mcp',
      ...labels,
      latency_ms: Math.round(call.latencyMs * 1_000) / 1_000,
      aborted_by: call.abortedBy,
      // Ingest's limit.
      error: error?.slice(0, 8_192).toWellFormed().replaceAll('\u0000', '\ufffd') ?? null,
    },
    metadata,
    request: jsonOf(request, maxBytes),
    response: response === null ? null : jsonOf(response, maxBytes),
  }
}

function jsonOf(body: object, maxBytes: number): Buffer {
  const bytes = Buffer.from(JSON.stringify(body))
  return bodyJson({ bytes, byteLength: bytes.length, sha256: null }, maxBytes).json
}
