import { newId } from '../schemas/ids.ts'
import type { RawRecord } from './call-record.ts'
import { boundedJson } from './capturing/body-json.ts'
import { plainValue } from './capturing/plain-value.ts'
import { sessionFields } from './session.ts'
import type { Session, ToolCall } from './types.ts'

/** The record of a tool call that is over: `request_body.type` is `mcp_tool_call`. */
export function toolCallRecord(
  { toolName, arguments: given, result, error, latencyMs, model }: ToolCall,
  session: Session,
  maxBodyBytes: number,
): RawRecord {
  const request = { type: 'mcp_tool_call', tool_name: toolName, arguments: objectFrom(given) }
  const responseJson =
    result === undefined ? undefined : boundedJson(JSON.stringify(resultBody(result)), maxBodyBytes)
  return {
    id: newId('request', Date.now() - (latencyMs ?? 0)),
    source: 'mcp',
    ...sessionFields(session),
    ...(model === undefined ? {} : { model }),
    ...(latencyMs === undefined ? {} : { latency_ms: latencyMs }),
    ...(error === undefined ? {} : { error: error.slice(0, 2_000) }),
    requestJson: boundedJson(JSON.stringify(request), maxBodyBytes),
    responseJson,
  }
}

/** The API takes objects for arguments; anything else stands under `value`. */
function objectFrom(given: unknown): object {
  const plain = plainValue(given) ?? {}
  return typeof plain === 'object' && !Array.isArray(plain) ? plain : { value: plain }
}

function resultBody(result: unknown): object {
  const plain = plainValue(result)
  return typeof plain === 'object' && plain !== null && !Array.isArray(plain) ? plain : { result: plain }
}
