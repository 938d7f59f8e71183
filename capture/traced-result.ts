import { fieldAt, objectOf } from './json.ts'

/**
 * What a traced function gave back, undefined of another record. The SDK records it as `result` and nothing else, and that it was cut; of the
 * function's arguments, which say what they are, there may have been too much to be kept.
 */
export function tracedResult(requestBody: unknown, responseBody: unknown): unknown {
  const isAlone = Object.keys(objectOf(responseBody) ?? {}).every((name) => recorded.has(name))
  return isAlone || fieldAt(requestBody, 'type') === 'trace' ? fieldAt(responseBody, 'result') : undefined
}

const recorded: ReadonlySet<string> = new Set(['result', 'truncated'])
