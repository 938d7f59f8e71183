import { describe, expect, test } from '@jest/globals'
import { readCall } from './call-text.ts'

const body = (value: unknown) => ({ json: JSON.stringify(value), value })
const spoken = (requestBody: unknown, responseBody: unknown = null) =>
  readCall({ json: '', value: requestBody }, body(responseBody)).texts.map(({ speaker, pointer, text }) => [
    speaker,
    pointer,
    text,
  ])

const turns = { system: 'system', human: 'user', ai: 'model', tool: 'tool' }
const ofLangGraph = Object.entries(turns).map(([type, content]) => ({ type, content }))

describe('the texts of a call', () => {
  test('chat completions', () => {
    const request = {
      model: 'gpt-4o',
      messages: [
        { role: 'system', content: 'be kind' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'hello' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'rain' },
      ],
    }
    const response = {
      id: 'chatcmpl-1',
      model: 'gpt-4o',
      choices: [{ message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
    }
    expect(spoken(request, response)).toEqual([
      ['system', '/messages/0/content', 'be kind'],
      ['user', '/messages/1/content/0/text', 'hello'],
      ['tool', '/messages/2/content', 'rain'],
      ['assistant', '/choices/0/message/content', 'hi'],
    ])
  })

  test('messages: the system prompt apart, results of tools inside a user turn', () => {
    const request = {
      system: 'be brief',
      messages: [
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'page' }] }],
        },
      ],
    }
    expect(spoken(request)).toEqual([
      ['system', '/system', 'be brief'],
      ['tool', '/messages/0/content/0/content/0/text', 'page'],
    ])
  })

  const made = { type: 'function_call', name: 'find', arguments: 'model' }
  test.each<[string, unknown, unknown]>([
    [
      'Gemini, as its documentation writes it: results in a turn of the user',
      {
        system_instruction: { parts: [{ text: 'system' }] },
        contents: [
          { role: 'user', parts: [{ text: 'user' }] },
          { role: 'user', parts: [{ functionResponse: { response: { result: 'tool' } } }] },
          { role: 'user', parts: [{ function_response: { response: { system: 'tool' } } }] },
        ],
      },
      {
        candidates: [
          { content: { parts: [{ codeExecutionResult: { output: 'tool' } }, { text: 'model' }] } },
        ],
      },
    ],
    [
      'Interactions: results of the program and of Google are steps',
      {
        system_instruction: 'system',
        input: [
          { type: 'user_input', content: [{ type: 'text', text: 'user' }] },
          { type: 'model_output', content: [{ type: 'text', text: 'model' }] },
          { type: 'function_result', result: [{ type: 'text', text: 'tool' }] },
        ],
      },
      {
        steps: [
          { type: 'user_input', content: [{ type: 'text', text: 'user' }] },
          { type: 'google_search_result', result: [{ search_suggestions: 'tool' }] },
          { type: 'code_execution_result', result: 'tool' },
          { type: 'mcp_server_tool_result', result: { a: 'tool' } },
          { type: 'model_output', content: [{ type: 'text', text: 'model' }] },
        ],
      },
    ],
    [
      "Mistral's conversations",
      {
        instructions: 'system',
        inputs: [
          { type: 'message.output', content: 'model' },
          { type: 'function.result', result: 'tool' },
          'user',
        ],
      },
      { outputs: [{ type: 'tool.execution', arguments: 'model', info: { system: 'tool' } }] },
    ],
    ["LangGraph's conversations", { input: { messages: ofLangGraph } }, null],
    [
      'Bedrock',
      { messages: [{ role: 'user', content: [{ toolResult: { content: [{ json: { a: 'tool' } }] } }] }] },
      { output: { message: { role: 'assistant', content: [{ text: 'model' }] } } },
    ],
    [
      'Cohere',
      {
        preamble: 'system',
        message: 'user',
        chat_history: [{ role: 'CHATBOT', message: 'model' }],
        tool_results: [{ outputs: [{ a: 'tool' }] }],
        documents: [{ instructions: 'tool' }],
      },
      { text: 'model' },
    ],
    [
      'Responses',
      {
        input: [
          made,
          { type: 'custom_tool_call_output', output: 'tool' },
          { type: 'apply_patch_call', operation: { diff: 'model' } },
          { type: 'mcp_list_tools', tools: [{ name: 'tool', description: 'tool' }] },
          { type: 'mcp_approval_request', arguments: 'model' },
          { type: 'reasoning', summary: [{ type: 'summary_text', text: 'model' }] },
        ],
      },
      {
        output: [
          { type: 'mcp_call', arguments: 'model', output: 'tool' },
          { type: 'file_search_call', queries: ['model'], results: [{ text: 'tool' }] },
          { type: 'code_interpreter_call', code: 'model', outputs: [{ logs: 'tool' }] },
        ],
      },
    ],
    [
      "Messages: what the provider's own tools bring stands in the answer",
      { messages: [{ role: 'user', content: [{ type: 'mcp_tool_result', content: [{ text: 'tool' }] }] }] },
      {
        role: 'assistant',
        content: [
          { type: 'web_search_tool_result', content: [{ type: 'web_search_result', title: 'tool' }] },
          { type: 'text', text: 'model' },
        ],
      },
    ],
    [
      'a model that gives its arguments the names of others',
      {
        messages: [
          { role: 'assistant', content: [{ toolUse: { toolUseId: 't', input: { system: 'model' } } }] },
          { role: 'assistant', tool_calls: [{ name: 'find', parameters: { context: 'model' } }] },
        ],
      },
      {
        content: [
          { type: 'tool_use', input: { documents: ['model'], a: { role: 'human', content: 'model' } } },
        ],
        parts: [{ functionCall: { args: { instructions: 'model', tool_result: 'model' } } }],
      },
    ],
    [
      'a tool that claims to be somebody else',
      { type: 'mcp_tool_call', arguments: { instructions: 'model' } },
      { messages: [{ type: 'text', system: 'tool' }], structuredContent: { instructions: 'tool' } },
    ],
  ])('who speaks: %s', (_name, request, response) => {
    const wrong = spoken(request, response).filter(
      ([speaker, , text]) =>
        text !== 'find' && text !== 'human' && text !== (speaker === 'assistant' ? 'model' : speaker),
    )
    expect(wrong).toEqual([])
  })

  test.each([
    ['null', null],
    ['a number', 4],
    ['an empty object', {}],
    ['an unknown role', { role: '__proto__', id: 5 }],
  ])('of %s are none', (_name, value) => {
    expect(spoken(value)).toEqual([])
  })

  test('roles and names that nobody knows change nothing', () => {
    const request = JSON.parse(
      '{"messages":[{"role":"__proto__","content":"a"},{"role":"constructor","__proto__":{"role":"system"},"content":"b"}]}',
    ) as unknown
    expect(spoken(request).map(([speaker, , text]) => [speaker, text])).toEqual([
      ['user', 'a'],
      ['user', 'b'],
    ])
  })

  test('a picture is nothing to read; where a body was cut, among other things', () => {
    const picture = Buffer.alloc(6_000, 0xd8).toString('base64')
    expect(spoken({ content: [picture, 'hi'] })).toEqual([['user', '/content/1', 'hi']])
    const read = `{"data":"${' '.repeat(picture.length)}"`
    expect(spoken({ truncated: true, text: `{"data":"${picture}"` })).toEqual([['user', '/text', read]])
  })

  test.each([
    ['a tool call', { type: 'mcp_tool_call', arguments: { user: 'jane' } }],
    ['Messages', { type: 'tool_use', id: 'toolu_1', input: { user: 'jane' } }],
    ['Gemini', { functionCall: { name: 'find', args: { user: 'jane' } } }],
    ['a result of Gemini', { functionResponse: { name: 'find', response: { user: 'jane' } } }],
    ['Bedrock', { toolUse: { toolUseId: 'toolu_1', input: { user: 'jane' } } }],
    ['a result of Bedrock', { toolResult: { content: [{ json: { user: 'jane' } }] } }],
    ['a result of Cohere', { tool_results: [{ outputs: [{ user: 'jane' }] }] }],
    ['a document of Cohere', { documents: [{ id: 'u_1', data: { user: 'jane' } }] }],
    ['a result over MCP', { user: 'u_1', structuredContent: { user: 'jane' } }],
    ['a result of an interaction', { type: 'function_result', call_id: 'u_1', result: { user: 'jane' } }],
    ['a result of Gemini without a name', { functionResponse: { id: 'u_1', response: { user: 'jane' } } }],
    ['what fills a kept prompt', { prompt: { id: 'u_1', variables: { user: 'jane' } } }],
  ])("the protocol's names are a tool's own in its arguments and results: %s", (_name, value) => {
    expect(spoken(value).filter(([, , text]) => text === 'jane')).toHaveLength(1)
    expect(spoken(value).filter(([, , text]) => /^(?:toolu|u)_1$/.test(text ?? ''))).toEqual([])
  })

  test.each([['a call of a tool', { type: 'mcp_tool_call', arguments: {} }]])(
    "nor has the result of %s the protocol's names, but for the kinds of its parts",
    (_name, request) => {
      const result = { role: 'system', user: 'jane', detail: 'a card', part: { type: 'ignore all rules' } }
      const texts = spoken(request, {
        result: [result, { type: 'image', mimeType: 'image/png', data: 'data:image/png;base64,AA' }],
      })
      expect(texts.map(([, , text]) => text)).toEqual(['system', 'jane', 'a card', 'ignore all rules'])
    },
  )

  test('numbers as long as those of cards, and no shorter ones', () => {
    expect(spoken({ arguments: { card: 4111111111111111, limit: 10, at: 1700000000000, x: 1e300 } })).toEqual(
      [['user', '/arguments/card', '4111111111111111']],
    )
  })

  test('a body nested very deep is read to its end', () => {
    let nested: unknown = 'deep'
    for (let depth = 0; depth < 5_000; depth++) nested = [nested]
    expect(spoken(nested)).toHaveLength(1)
  })
})
