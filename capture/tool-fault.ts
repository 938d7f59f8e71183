import { fieldAt, listOf, textOf } from './json.ts'

/**
 * What a tool says of its own failure, undefined where it does not say that it failed. A tool of the Model Context Protocol answers
 * all the same and marks its answer; the server's own failure is JSON-RPC's. Takes any JSON and never throws.
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
