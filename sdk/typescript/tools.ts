import { objectOf } from '../../capture/json.ts'
import { newId } from '../../schemas/ids.ts'
import type { RawRecord } from './call-record.ts'
import { boundedJson } from './capturing/body-json.ts'
import { messageOf } from './capturing/message-of.ts'
import { cutMark, takeSnapshot } from './capturing/plain-value.ts'
import type { SessionFields } from './session-fields.ts'
import type { ToolCall } from './types.ts'

/**
 * Takes a snapshot of a finished tool call; the returned function builds its record (`request_body.type` is
 * `mcp_tool_call`).
 */
export function toolCallRecord(
  { toolName, arguments: given, result, error, latencyMs: took }: ToolCall,
  labels: SessionFields,
  maxBodyBytes: number,
): () => RawRecord {
  const request = { type: 'mcp_tool_call', tool_name: toolName, ...argumentsOf(given) }
  const response = result === undefined ? undefined : resultBody(result)
  const latencyMs = durationOf(took)
  const fields = {
    id: newId('request', Date.now() - (latencyMs ?? 0)),
    source: 'mcp' as const,
    ...labels,
    ...(latencyMs === undefined ? {} : { latency_ms: latencyMs }),
    ...(error === undefined ? {} : { error: messageOf(error) }),
  }
  const jsonOf = (body: object) => boundedJson(JSON.stringify(body), maxBodyBytes)
  return () => ({
    ...fields,
    requestJson: jsonOf(request),
    responseJson: response === undefined ? undefined : jsonOf(response),
  })
}

/** A larger value is a time rather than a duration, and the tables may have no partition for its day. */
const maxLatencyMs = 7 * 86_400_000

/** The measured duration, undefined if implausible. Negative after a clock change: 0. */
function durationOf(given: unknown): number | undefined {
  return typeof given === 'number' && given <= maxLatencyMs && given > -Infinity
    ? Math.max(0, given)
    : undefined
}

/** The API accepts only objects as arguments; other values become `{value}`. */
function argumentsOf(given: unknown): object {
  const taken = takeSnapshot(given)
  const plain = taken.value ?? {}
  return { arguments: objectOf(plain) ?? { value: plain }, ...cutMark(taken) }
}

function resultBody(result: unknown): object {
  const taken = takeSnapshot(result)
  return { ...(objectOf(taken.value) ?? { result: taken.value }), ...cutMark(taken) }
}
