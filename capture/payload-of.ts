import { fieldAt, objectOf } from './json.ts'

/** What is said in a body of no known shape: the arguments of a tool call or of a function that the SDK traced, the text of one that the gateway had to wrap, or all. */
export function payloadOf(body: unknown): unknown {
  const type = fieldAt(body, 'type')
  if (type === 'mcp_tool_call' || (type === 'trace' && fieldAt(body, 'function') !== undefined))
    return fieldAt(body, 'arguments')
  if (isCutText(body)) return fieldAt(body, 'text')
  if (fieldAt(body, 'encoding') === 'utf8') return fieldAt(body, 'raw')
  return body
}

/** Of what the SDK took of a value, cut, the body is what is left: it says so beside fields of its own. */
function isCutText(body: unknown): boolean {
  if (fieldAt(body, 'truncated') !== true || typeof fieldAt(body, 'text') !== 'string') return false
  return Object.keys(objectOf(body) ?? {}).every((name) => wrapperKeys.has(name))
}

const wrapperKeys = new Set(['truncated', 'bytes', 'sha256', 'text'])
