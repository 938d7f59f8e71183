import { createHash } from 'node:crypto'
import type { Reply } from './route.ts'

/** The ETag of an answer that depends on `value` alone. */
export function tagOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url')
}

/** A JSON answer with its ETag. */
export function taggedJson(json: object): Reply {
  const jsonText = JSON.stringify(json)
  return { jsonText, etag: createHash('sha256').update(jsonText).digest('base64url') }
}
