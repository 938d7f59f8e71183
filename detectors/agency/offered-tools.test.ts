import { describe, expect, test } from '@jest/globals'
import { detectCall } from '../testing/detect-call.ts'
import { createAgencyDetector } from './detect-agency.ts'

const withTools = (offered: unknown, called: string) =>
  detectCall(
    createAgencyDetector,
    { messages: [{ role: 'user', content: 'What is new?' }], ...(offered as object) },
    {
      choices: [
        {
          message: {
            tool_calls: [{ id: 'c', type: 'function', function: { name: called, arguments: '{}' } }],
          },
        },
      ],
    },
  )

describe('tools that were not offered', () => {
  test.each([
    ['chat completions', { tools: [{ type: 'function', function: { name: 'search' } }] }],
    ['messages', { tools: [{ name: 'search', input_schema: {} }] }],
    ['Gemini', { tools: [{ functionDeclarations: [{ name: 'search' }] }] }],
    ['functions', { functions: [{ name: 'search' }] }],
  ])('in the shape of %s', (_name, offered) => {
    expect(withTools(offered, 'delete_user')).toMatchObject({ value: 4 })
    expect(withTools(offered, 'search')).toMatchObject({ reason: 'detectors_undecided' })
  })

  test.each([
    ['none are offered by name', {}],
    [
      "a provider's own is among them",
      { tools: [{ type: 'web_search' }, { type: 'function', function: { name: 'search' } }] },
    ],
  ])('where %s nobody can say', (_name, offered) => {
    expect(withTools(offered, 'web_search')).toMatchObject({ reason: 'detectors_undecided' })
  })
})

const functionNamed = (name: string) => ({ type: 'function', name, parameters: {} })

describe('tools that are offered elsewhere than in a list of functions', () => {
  const search = functionNamed('search')
  const answer = (output: unknown[]) => ({ object: 'response', status: 'completed', output })
  const calls = (name: string) => ({ type: 'function_call', name, call_id: 'c', arguments: '{}' })
  const added = (tool: unknown) => [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is new?' },
        { type: 'tool_addition', tool },
      ],
    },
  ]
  const messages = (content: unknown[]) => ({ type: 'message', role: 'assistant', content })
  const uses = (name: string) => messages([{ type: 'tool_use', id: 't', name, input: {} }])
  const tools = [{ name: 'search', input_schema: {} }]
  const brought = { type: 'tool_search_output', tools: [functionNamed('find')] }
  const references = { type: 'tool_reference', name: 'find' }
  const defines = { type: 'tool_definition', definition: { name: 'find', input_schema: {} } }

  test.each<[string, object, (name: string) => object]>([
    [
      'a namespace',
      { tools: [{ type: 'namespace', name: 'crm', tools: [functionNamed('find')] }] },
      (name) => answer([calls(name)]),
    ],
    [
      'tools added to the input',
      { tools: [search], input: [{ type: 'additional_tools', tools: [functionNamed('find')] }] },
      (name) => answer([calls(name)]),
    ],
    ['a search for tools before', { tools: [search], input: [brought] }, (name) => answer([calls(name)])],
    ['a search for tools', { tools: [search] }, (name) => answer([brought, calls(name)])],
    ['a tool added between messages', { tools, messages: added(references) }, uses],
    ['a tool defined between messages', { tools, messages: added(defines) }, uses],
    [
      'a summary of them',
      {
        tools,
        messages: [
          {
            role: 'assistant',
            content: [{ type: 'compaction', tool_changes: [{ type: 'tool_addition', tool: references }] }],
          },
        ],
      },
      uses,
    ],
  ])('%s', (_name, request, response) => {
    const whole = { messages: [{ role: 'user', content: 'What is new?' }], ...request }
    expect(detectCall(createAgencyDetector, whole, response('find'))).toMatchObject({
      reason: 'detectors_undecided',
    })
    expect(detectCall(createAgencyDetector, whole, response('delete_user'))).toMatchObject({ value: 4 })
  })

  test.each<[string, object]>([
    ['OpenRouter', answer([{ type: 'openrouter:web_fetch', url: 'https://example.com' }])],
    ['Groq', { choices: [{ message: { executed_tools: [{ type: 'python', arguments: '1' }] } }] }],
  ])('and with some they stand in shapes of their own: %s', (_name, response) => {
    const request = { tools: [search], messages: [{ role: 'user', content: 'What is new?' }] }
    expect(detectCall(createAgencyDetector, request, response)).toMatchObject({
      reason: 'detectors_undecided',
    })
  })

  test.each(['server_tool_use', 'mcp_tool_use'])(
    'what the provider runs has names of its own: %s',
    (type) => {
      const request = {
        tools: [...tools, { type: 'code_execution_20250825', name: 'code_execution' }],
        messages: [{ role: 'user', content: 'List the files.' }],
      }
      const part = { type, id: 's', name: 'bash_code_execution', input: { command: 'ls' } }
      expect(detectCall(createAgencyDetector, request, messages([part]))).toMatchObject({
        reason: 'detectors_undecided',
      })
    },
  )
})
