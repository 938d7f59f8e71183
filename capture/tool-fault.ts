import { fieldAt, listOf, textOf } from './json.ts'

/**
 * The failure message of a tool result; undefined if it does not report one. MCP tools mark their result with
 * `isError`; a failing server uses a JSON-RPC error. Accepts any JSON and never throws.
 */
export function faultOfTool(result: unknown): string | undefined {
  const isMessage = fieldAt(result, 'jsonrpc') !== undefined
  const fault = isMessage ? fieldAt(result, 'error') : undefined
  if (typeof fault === 'object' && fault !== null) return textOf(fieldAt(fault, 'message')) ?? unexplained
  const answer = isMessage ? fieldAt(result, 'result') : result
  if (fieldAt(answer, 'isError') !== true) return undefined
  const texts = listOf(fieldAt(answer, 'content')).map((part) => textOf(fieldAt(part, 'text')))
  return texts.find((text) => text !== undefined) ?? unexplained
}

const unexplained = 'the tool says that it failed'
