import { createHash } from 'node:crypto'
import type { ToolDefinition } from '#schemas/tool-definition.ts'
import { fieldAt, listOf, objectOf, textOf, type JsonObject } from './json.ts'

/** `request_body.type` of a record that holds what a server says of its tools. */
export const toolListType = 'mcp_tool_list'

/** A hostile server can list very many; names are kept whole or not at all. */
const maxDefinitions = 1_000
const maxNameLength = 256

/** The bodies of such a record: the answer has the form in which models get such lists. */
export function toolListBodies(server: string, tools: readonly JsonObject[]) {
  return {
    request: { type: toolListType, server },
    response: { output: [{ type: 'mcp_list_tools', server_label: server, tools }] },
  }
}

/** The definitions in such a record; none in others. Accepts any JSON. */
export function toolDefinitionsIn(requestBody: unknown, responseBody: unknown): ToolDefinition[] {
  const server = textOf(fieldAt(requestBody, 'server'))
  if (fieldAt(requestBody, 'type') !== toolListType || server === undefined || !isName(server)) return []
  const tools = listOf(fieldAt(listOf(fieldAt(responseBody, 'output'))[0], 'tools')).slice(0, maxDefinitions)
  return tools.flatMap((tool) => {
    const name = textOf(fieldAt(tool, 'name'))
    return name === undefined || !isName(name) ? [] : [{ server, tool: name, hash: hashOfDefinition(tool) }]
  })
}

function isName(text: string): boolean {
  return text.length <= maxNameLength && text.isWellFormed() && !text.includes('\u0000')
}

/** SHA-256 of a definition, in hexadecimal. The order of members, which servers do not keep, has no part in it. */
export function hashOfDefinition(tool: unknown): string {
  const text = JSON.stringify(tool, (_name, value: unknown) => {
    const object = objectOf(value)
    return object === undefined
      ? value
      : Object.fromEntries(Object.entries(object).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  })
  return createHash('sha256').update(text).digest('hex')
}
