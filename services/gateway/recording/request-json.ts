import { isToolCallRecord } from '#capture/tool-calls.ts'
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
  return isToolCallRecord(body.value) ? wrappedJson({ ...request, bytes: body.json }, maxBytes) : body
}
