import { expect, test } from '@jest/globals'
import { describeCall } from './describe-call.ts'
import { textsOfCall } from './texts-of-call.ts'
import { toolCallsOf } from './tool-calls.ts'

const ofGemini = (...parts: object[]) => ({ candidates: [{ content: { role: 'model', parts } }] })
const ofGroq = (...tools: object[]) => ({
  choices: [{ message: { role: 'assistant', content: 'A', executed_tools: tools } }],
})
const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'A' }] }
const refused = {
  type: 'mcp_tool_execution_error',
  content: [{ type: 'text', text: 'T', annotations: null, meta: null }],
}

// `Part`, `ToolCall` and `ToolResponse` of @google/genai; `ResponseOutputItem` of openai; items of
// OpenRouter's OpenAPI document.
test.each<[string, unknown, { name: string; arguments: string }, string[]]>([
  [
    'code of Gemini',
    ofGemini(
      { executableCode: { language: 'PYTHON', code: 'print(1)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: 'T' } },
      { text: 'A' },
    ),
    { name: 'code_execution', arguments: 'print(1)' },
    ['T'],
  ],
  [
    'a search of Gemini',
    ofGemini(
      { toolCall: { id: '1', toolType: 'URL_CONTEXT', args: { urls: ['u'] } } },
      { toolResponse: { id: '1', toolType: 'URL_CONTEXT', response: { text: 'T' } } },
      { text: 'A' },
    ),
    { name: 'URL_CONTEXT', arguments: '{"urls":["u"]}' },
    ['T'],
  ],
  [
    'a tool of Groq',
    ofGroq({
      index: 0,
      type: 'python',
      arguments: '{"code":"1"}',
      output: 'T',
      code_results: [{ text: 'U' }],
    }),
    { name: 'python', arguments: '{"code":"1"}' },
    ['T', 'U'],
  ],
  [
    'a shell of OpenRouter',
    // prettier-ignore
    { output: [{ type: 'openrouter:bash', id: 'b', status: 'completed', command: 'ls', stdout: 'T', stderr: 'U', exitCode: 0 }, said] },
    { name: 'openrouter:bash', arguments: 'ls' },
    ['T', 'U'],
  ],
  [
    'a page that OpenRouter fetched',
    // prettier-ignore
    { output: [{ type: 'openrouter:web_fetch', status: 'completed', url: 'u', title: 'T', content: 'U', httpStatus: 200 }, said] },
    { name: 'openrouter:web_fetch', arguments: 'u' },
    ['T', 'U'],
  ],
  [
    'several things that OpenRouter is told',
    {
      output: [{ type: 'openrouter:text_editor', status: 'completed', command: 'view', filePath: 'f' }, said],
    },
    { name: 'openrouter:text_editor', arguments: '{"command":"view","filePath":"f"}' },
    [],
  ],
  [
    'a call of a server that failed',
    { output: [{ type: 'mcp_call', name: 'read', arguments: '{}', output: null, error: refused }, said] },
    { name: 'read', arguments: '{}' },
    ['T\nmcp_tool_execution_error'],
  ],
  [
    'a call that is to be approved',
    // prettier-ignore
    { output: [{ type: 'mcp_approval_request', id: 'r', name: 'run', server_label: 's', arguments: '{"a":1}' }, said] },
    { name: 'run', arguments: '{"a":1}' },
    [],
  ],
])(
  'what the provider runs is a call, and what came of it no words of the model: %s',
  (_name, response, call, context) => {
    const request = { model: 'm', input: 'P' }
    expect(textsOfCall(request, response)).toMatchObject({ answer: 'A', toolCalls: [call], context })
    expect(describeCall({ requestBody: request, responseBody: response }).toolCalls).toEqual([call])
  },
)

test('results of such calls in a request', () => {
  const input = [
    { role: 'user', content: 'P' },
    { type: 'mcp_call', name: 'read', arguments: '{}', output: null, error: 'T' },
    { type: 'openrouter:bash', command: 'ls', stdout: 'U' },
    {
      type: 'shell_call_output',
      output: [{ stdout: 'V', stderr: 'W', outcome: { type: 'exit', exit_code: 0 } }],
    },
  ]
  expect(textsOfCall({ input }, null)).toMatchObject({ prompt: 'P', context: ['T', 'U', 'V\nW'] })
  const parts = [{ text: 'P' }, { toolResponse: { response: { text: 'T' } } }]
  expect(textsOfCall({ contents: [{ role: 'user', parts }] }, null)).toMatchObject({
    prompt: 'P',
    context: ['T'],
  })
})

test('a call that was approved is one call', () => {
  const asked = { type: 'mcp_approval_request', id: 'r', name: 'run', arguments: '{}' }
  const made = { type: 'mcp_call', approval_request_id: 'r', name: 'run', arguments: '{}' }
  expect(toolCallsOf(null, { output: [asked, made] })).toHaveLength(1)
  expect(toolCallsOf(null, { output: [asked, { ...made, approval_request_id: 'q' }] })).toHaveLength(2)
})

test('a picture that a tool drew is nothing to read', () => {
  const drawn = { type: 'python', arguments: '{}', output: 'T', code_results: [{ png: 'iVBO'.repeat(20) }] }
  expect(textsOfCall(null, ofGroq(drawn)).context).toEqual(['T'])
})
