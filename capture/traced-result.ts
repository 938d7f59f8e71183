import { fieldAt, objectOf } from './json.ts'

/**
 * The result of a traced function; undefined for other records. The SDK records only `result` and
 * `truncated`. The request alone does not identify it, as its arguments may have been too large to record.
 */
export function tracedResult(requestBody: unknown, responseBody: unknown): unknown {
  const isAlone = Object.keys(objectOf(responseBody) ?? {}).every((name) => recorded.has(name))
  return isAlone || fieldAt(requestBody, 'type') === 'trace' ? fieldAt(responseBody, 'result') : undefined
}

const recorded: ReadonlySet<string> = new Set(['result', 'truncated'])
