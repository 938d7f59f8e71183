import { createHash } from 'node:crypto'
import type { ToolDefinition } from '#schemas/tool-definition.ts'
import { fieldAt, listOf, objectOf, textOf, type JsonObject } from './json.ts'

/** `request_body.type` of a record that holds what a server says of its tools. */
const toolListType = 'mcp_tool_list'

/** A hostile server can list very many; names are kept whole or not at all. */
const maxDefinitions = 1_000
const maxNameLength = 256

/** The request of such a record. Its tools are where a model's request offers them, for the scorers. */
export function toolListRequest(server: string, tools: readonly JsonObject[]) {
  return { type: toolListType, server, tools }
}

/** The definitions in such a record; none in others. Accepts any JSON. */
export function toolDefinitionsIn(requestBody: unknown): ToolDefinition[] {
  const server = textOf(fieldAt(requestBody, 'server'))
  if (fieldAt(requestBody, 'type') !== toolListType || server === undefined || !isName(server)) return []
  const tools = listOf(fieldAt(requestBody, 'tools')).slice(0, maxDefinitions)
  return tools.flatMap((tool) => {
    const name = textOf(fieldAt(tool, 'name'))
    return name === undefined || !isName(name) ? [] : [{ server, tool: name, hash: hashOfDefinition(tool) }]
  })
}

function isName(text: string): boolean {
  return text.length <= maxNameLength && text.isWellFormed() && !text.includes('\u0000')
}

/** SHA-256 of a definition, in hexadecimal, whatever the order of its members, which servers do not keep. */
export function hashOfDefinition(tool: unknown): string {
  const text = JSON.stringify(tool, (_name, value: unknown) => {
    const object = objectOf(value)
    return object === undefined
      ? value
      : Object.fromEntries(Object.entries(object).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  })
  return createHash('sha256').update(text).digest('hex')
}
