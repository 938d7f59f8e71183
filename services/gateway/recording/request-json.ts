import { fieldAt } from '#capture/json.ts'
import { bodyJson, wrappedJson, type BodyJson } from './body-json.ts'
import type { CapturedBytes } from './captured-body.ts'
import { decodeCaptured } from './decode-captured.ts'

/** A request as it stands in a record: decompressed. */
export function requestJson(
  request: CapturedBytes,
  contentEncoding: string,
  maxBytes: number,
): BodyJson | Promise<BodyJson> {
  if (contentEncoding === '') return decodedJson(request, maxBytes)
  return decodeCaptured(request, contentEncoding, maxBytes).then((decoded) => decodedJson(decoded, maxBytes))
}

function decodedJson(request: CapturedBytes, maxBytes: number): BodyJson {
  const body = bodyJson(request, maxBytes)
  // What is a tool call is for who records to say. A model call that names itself one would be read as that: refused without a
  // tool's name, and with one its messages would go unread.
  return fieldAt(body.value, 'type') === 'mcp_tool_call'
    ? wrappedJson({ ...request, bytes: body.json }, maxBytes)
    : body
}
