import { objectOf, parseJson, type JsonObject } from './json.ts'
import { firstValue } from './record/scan-json.ts'
import { laterCounts } from './streams/later-counts.ts'

/** So many bytes of an answer's end are looked at. */
export const endBytes = 4_096

/** The last bytes of `before` and `chunk`, in a copy: a chunk is part of what is read at once. */
export function lastBytes(before: Buffer, chunk: Buffer): Buffer {
  const both = chunk.length < endBytes ? Buffer.concat([before, chunk]) : chunk
  return Buffer.from(both.subarray(-endBytes))
}

/** In a string its quotes would be escaped. */
const usageName = /"(usage|usageMetadata)"\s*:\s*(?=\{)/g

/**
 * `body`, as far as an answer is known that was not kept whole, with what the answer's end says of its tokens: providers write that last. Counts
 * there are later than those in `body`, and replace them.
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
