import { objectOf } from '../capture/json.ts'
import { newId } from '../schemas/ids.ts'
import type { RawRecord } from './call-record.ts'
import { boundedJson } from './capturing/body-json.ts'
import { messageOf } from './capturing/message-of.ts'
import { cutMark, takeValue } from './capturing/plain-value.ts'
import type { SessionFields } from './session-fields.ts'
import type { ToolCall } from './types.ts'

/** A tool call that is over, its values taken now; what it returns makes the record, whose `request_body.type` is `mcp_tool_call`. */
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

/** Longer is a time, not a duration, and a call of that day may have no place in the tables any more. */
const longestMs = 7 * 86_400_000

/** What the program measured; what can be no duration is left out. A clock that was set back is at 0. */
function durationOf(given: unknown): number | undefined {
  return typeof given === 'number' && given <= longestMs && given > -Infinity ? Math.max(0, given) : undefined
}

/** The API takes objects for arguments; anything else stands under `value`. */
function argumentsOf(given: unknown): object {
  const taken = takeValue(given)
  const plain = taken.value ?? {}
  return { arguments: objectOf(plain) ?? { value: plain }, ...cutMark(taken) }
}

function resultBody(result: unknown): object {
  const taken = takeValue(result)
  return { ...(objectOf(taken.value) ?? { result: taken.value }), ...cutMark(taken) }
}
