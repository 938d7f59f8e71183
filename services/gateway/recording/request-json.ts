import { fieldAt } from '#capture/json.ts'
import { bodyJson, wrappedJson, type BodyJson } from './body-json.ts'
import type { CapturedBytes } from './captured-body.ts'

/** A request as it stands in a record. */
export function requestJson(request: CapturedBytes, maxBytes: number): BodyJson {
  const body = bodyJson(request, maxBytes)
  // What is a tool call is for who records to say. A model call that names itself one would be read as that: refused without a
  // tool's name, and with one its messages would go unread.
  return fieldAt(body.value, 'type') === 'mcp_tool_call' ? wrappedJson(request, maxBytes) : body
}
