import { describe, expect, test } from '@jest/globals'
import { textsOfCall } from './texts-of-call.ts'
import { toolCallsOf } from './tool-calls.ts'

// `Program` and `ProgramOutput` of openai/resources/responses: code that calls tools, and its output.
test('a program that the model wrote and the provider ran', () => {
  const request = {
    input: [
      { role: 'user', content: 'P' },
      { type: 'program_output', call_id: 'c', result: 'T' },
    ],
  }
  const response = {
    output: [
      { type: 'tool_search_output', tools: [{ type: 'function', name: 'X', description: 'X' }] },
      { type: 'program', call_id: 'd', code: 'print(1)' },
      { type: 'program_output', call_id: 'd', result: 'U' },
      { type: 'message', content: [{ type: 'output_text', text: 'A' }] },
    ],
  }
  expect(textsOfCall(request, response)).toMatchObject({
    prompt: 'P',
    answer: 'A',
    context: ['T', 'U'],
    toolCalls: [{ name: 'program', arguments: 'print(1)' }],
  })
})

test('code that is not there, which OpenAI says with null, is no argument', () => {
  const response = { output: [{ type: 'code_interpreter_call', code: null }] }
  expect(toolCallsOf(null, response)).toEqual([{ name: 'code_interpreter_call', arguments: '' }])
})

// `ResponseApplyPatchToolCall`, `ResponseComputerToolCall` and `ResponseFileSearchToolCall` of
// openai/resources/responses.
test.each([
  [
    'apply_patch_call',
    { operation: { type: 'delete_file', path: 'a.ts' } },
    '{"type":"delete_file","path":"a.ts"}',
  ],
  ['computer_call', { actions: [{ type: 'wait' }] }, '[{"type":"wait"}]'],
  ['file_search_call', { queries: ['tides'], results: null }, '["tides"]'],
])('what a tool of the provider is to do: %s', (type, given, text) => {
  expect(toolCallsOf(null, { output: [{ type, ...given }] })).toEqual([{ name: type, arguments: text }])
})

test('of a call that waits for approval and was made the one that was made counts, whether or not others say which they are', () => {
  const request = { type: 'mcp_approval_request', name: 'f', arguments: '{}' }
  const called = (...output: object[]) => toolCallsOf(null, { output }).map(({ name }) => name)
  const made = { type: 'mcp_call', id: 'b', approval_request_id: 'a', name: 'f', arguments: '{}' }
  expect(called({ ...request, id: 'a' }, made)).toEqual(['f'])
  expect(called({ ...request, id: 'c' }, made)).toEqual(['f', 'f'])
  expect(called(request, made)).toEqual(['f', 'f'])
  expect(called(request)).toEqual(['f'])
  expect(called({ ...request, id: null }, { type: 'message' })).toEqual(['f'])
})

describe('what a traced function gave back', () => {
  const traced = { type: 'trace', function: 'ask', arguments: ['P'] }
  const chat = { choices: [{ message: { content: null, tool_calls: [{ function: { name: 'f' } }] } }] }
  const message = { type: 'message', content: [{ type: 'tool_use', name: 'f', input: {} }] }
  const called = (request: unknown, response: unknown) =>
    toolCallsOf(request, response).map(({ name }) => name)

  test.each<[string, unknown, unknown]>([
    ['is a chat', traced, { result: chat }],
    ['is a message', traced, { result: message }],
    ['was cut', { ...traced, truncated: true }, { result: chat, truncated: true }],
    [
      'is kept where what it was given was too long',
      { truncated: true, text: '{"type":"tr' },
      { result: chat },
    ],
  ])('calls what the model called in it: it %s', (_name, request, response) => {
    expect(called(request, response)).toEqual(['f'])
  })

  test('is no answer where it is something else, or of another record', () => {
    expect(called(traced, { result: { name: 'f', arguments: '{}', calls: [{ name: 'f' }] } })).toEqual([])
    expect(called({ query: 'P' }, { result: chat, success: true })).toEqual([])
  })
})
