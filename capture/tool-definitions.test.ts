import { expect, test } from '@jest/globals'
import { hashOfDefinition, toolDefinitionsIn, toolListRequest } from './tool-definitions.ts'

const read = { name: 'read', description: 'Reads a file', inputSchema: { type: 'object', properties: {} } }

test('definitions are found in the record that holds them', () => {
  const request = toolListRequest('files', [read, { description: 'without a name' }])
  const hash = hashOfDefinition(read)
  expect(toolDefinitionsIn(request)).toEqual([{ server: 'files', tool: 'read', hash }])
})

test.each<[string, unknown]>([
  ['another record', { type: 'mcp_tool_call', server: 'files', tools: [read] }],
  ['no server', { type: 'mcp_tool_list', tools: [read] }],
  ['a server with a long name', { type: 'mcp_tool_list', server: 'x'.repeat(257), tools: [read] }],
  ['no tools', { type: 'mcp_tool_list', server: 'files', tools: 'none' }],
  ['names that no table holds', { type: 'mcp_tool_list', server: 'a', tools: [{ name: 'a\0' }] }],
])('none in %s', (_what, request) => {
  expect(toolDefinitionsIn(request)).toEqual([])
})

test('a hash changes with every word and with no order', () => {
  const { name, description, inputSchema } = read
  expect(hashOfDefinition({ inputSchema, description, name })).toBe(hashOfDefinition(read))
  expect(hashOfDefinition({ ...read, description: 'Reads a file.' })).not.toBe(hashOfDefinition(read))
  const required = { ...inputSchema, required: ['path'] }
  expect(hashOfDefinition({ ...read, inputSchema: required })).not.toBe(hashOfDefinition(read))
})
