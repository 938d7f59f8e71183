import { expect, test } from '@jest/globals'
import { textsOfCall } from './texts-of-call.ts'
import { hashOfDefinition, toolDefinitionsIn, toolListBodies } from './tool-definitions.ts'

const read = { name: 'read', description: 'Reads a file', inputSchema: { type: 'object', properties: {} } }

test('definitions are found in the record that holds them', () => {
  const { request, response } = toolListBodies('files', [read, { description: 'without a name' }])
  const hash = hashOfDefinition(read)
  expect(toolDefinitionsIn(request, response)).toEqual([{ server: 'files', tool: 'read', hash }])
})

test.each<[string, unknown, unknown]>([
  ['another record', { type: 'mcp_tool_call', server: 'files' }, toolListBodies('files', [read]).response],
  ['no server', { type: 'mcp_tool_list' }, toolListBodies('files', [read]).response],
  [
    'a server with a long name',
    { type: 'mcp_tool_list', server: 'x'.repeat(257) },
    { output: [{ tools: [read] }] },
  ],
  ['no tools', { type: 'mcp_tool_list', server: 'files' }, { output: 'none' }],
  [
    'names that no table holds',
    { type: 'mcp_tool_list', server: 'a' },
    { output: [{ tools: [{ name: 'a\0' }] }] },
  ],
])('none in %s', (_what, request, response) => {
  expect(toolDefinitionsIn(request, response)).toEqual([])
})

test('a hash changes with every word and with no order', () => {
  const { name, description, inputSchema } = read
  expect(hashOfDefinition({ inputSchema, description, name })).toBe(hashOfDefinition(read))
  expect(hashOfDefinition({ ...read, description: 'Reads a file.' })).not.toBe(hashOfDefinition(read))
  const required = { ...inputSchema, required: ['path'] }
  expect(hashOfDefinition({ ...read, inputSchema: required })).not.toBe(hashOfDefinition(read))
})

test('what a server says of its tools is no answer of a model', () => {
  const { request, response } = toolListBodies('files', [read])
  expect(textsOfCall(request, response)).toMatchObject({ answer: '', toolCalls: [], context: [] })
})
