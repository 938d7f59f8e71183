import { createHash } from 'node:crypto'
import type { Reply } from './route.ts'

/** The ETag of an answer that is made from `value` and nothing else. */
export function tagOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url')
}

/** The answer, with its ETag. */
export function taggedJson(json: object): Reply {
  const jsonText = JSON.stringify(json)
  return { jsonText, etag: createHash('sha256').update(jsonText).digest('base64url') }
}
