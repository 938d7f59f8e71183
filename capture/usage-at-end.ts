import { objectOf, parseJson, type JsonObject } from './json.ts'
import { firstValue } from './record/scan-json.ts'
import { laterCounts } from './streams/later-counts.ts'

/** Bytes examined at the end of an answer. */
export const endBytes = 4_096

/** Copies the last bytes of `before` and `chunk`, as a chunk is part of a read buffer. */
export function lastBytes(before: Buffer, chunk: Buffer): Buffer {
  const both = chunk.length < endBytes ? Buffer.concat([before, chunk]) : chunk
  return Buffer.from(both.subarray(-endBytes))
}

/** Inside a string the quotes would be escaped. */
const usageName = /"(usage|usageMetadata)"\s*:\s*(?=\{)/g

/**
 * Adds the token counts at an answer's end to `body`, the known part of an incomplete answer. They replace
 * earlier counts, as providers write them last.
 */
export function withUsageAtEnd(body: JsonObject, end: Buffer): JsonObject {
  const text = end.toString('utf8')
  const last = [...text.matchAll(usageName)].at(-1)
  if (last === undefined) return body
  const rest = Buffer.from(text.slice(last.index + last[0].length))
  const usage = objectOf(parseJson(firstValue(rest).toString('utf8')))
  if (usage === undefined) return body
  const name = last[1] ?? ''
  return { ...body, [name]: laterCounts(body[name] ?? {}, usage) }
}
