import { describe, expect, test } from '@jest/globals'
import { outgrows } from '#tests/support/cpu-growth.ts'
import { detectCall } from '../testing/detect-call.ts'
import { createAgencyDetector } from './detect-agency.ts'
import { isPlainAnswer } from './plain-answer.ts'

describe('what the provider runs itself', () => {
  const answered = (response: unknown) => detectCall(createAgencyDetector, { input: 'clean up' }, response)
  const ofGemini = (...parts: object[]) => ({ candidates: [{ content: { role: 'model', parts } }] })
  const ofGroq = (message: object) => ({
    choices: [{ message: { role: 'assistant', content: 'ok', ...message } }],
  })
  const wipe = 'rm -rf / --no-preserve-root'

  test.each<[string, object]>([
    [
      '/candidates/0/content/parts/0/executableCode/code',
      ofGemini(
        { executableCode: { language: 'PYTHON', code: `import os; os.system('${wipe}')` } },
        { text: 'ok' },
      ),
    ],
    // prettier-ignore
    ['/candidates/0/content/parts/0/toolCall/args/command', ofGemini({ toolCall: { toolType: 'X', args: { command: wipe } } })],
    [
      '/choices/0/message/executed_tools/0/arguments',
      ofGroq({ executed_tools: [{ type: 'python', arguments: `{"code":"${wipe}"}`, output: 'done' }] }),
    ],
    ['/output/0/command', { output: [{ type: 'openrouter:bash', command: wipe, stdout: '' }] }],
    [
      '/output/0/arguments',
      { output: [{ type: 'mcp_approval_request', name: 'run', arguments: `{"cmd":"${wipe}"}` }] },
    ],
  ])('is judged like any call: %s', (pointer, response) => {
    expect(answered(response)).toMatchObject({ evidence: [{ pointer }] })
  })

  test('and however deep it stands', () => {
    const code = { executableCode: { code: `import os; os.system('${wipe}')` } }
    const deep = Array.from({ length: 100 }).reduce<object>((inner) => ({ a: inner }), code)
    expect(answered(deep)).toMatchObject({
      evidence: [{ pointer: `${'/a'.repeat(100)}/executableCode/code` }],
    })
  })

  test.each<[string, object]>([
    ['a part', ofGemini({ text: 'ok' }, { newTool: { run: wipe } })],
    ['an item', { output: [{ type: 'host:shell', run: wipe }] }],
    [
      'a part of a message',
      {
        content: [
          { type: 'text', text: 'ok' },
          { type: 'ran', run: wipe },
        ],
      },
    ],
    ['a list in a message', ofGroq({ ran: [{ run: wipe }] })],
    ['a list in an answer of no known shape', { text: 'ok', actions: [{ run: wipe }] }],
    ['a list deep in such an answer', { text: 'ok', a: { b: { actions: [{ run: wipe }] } } }],
    ['a list in a list', [[{ run: wipe }]]],
    ['a list beside a word by the name of a message', { message: 'ok', actions: [{ run: wipe }] }],
    ['an object by a name that answers have', { data: { ran: { run: wipe } } }],
    ['an object that is no list', { ran: { run: wipe } }],
    ['an object beside choices', { choices: [{ message: { content: 'ok' } }], ran: { run: wipe } }],
    ['a list beside choices', { choices: [{ message: { content: 'ok' } }], actions: [{ run: wipe }] }],
    ['an object in a choice', { choices: [{ message: { content: 'ok' }, ran: { run: wipe } }] }],
    ['an object in a message', ofGroq({ ran: { run: wipe } })],
    ['an object as the content of a message', ofGroq({ content: { run: wipe } })],
    ['an object as the content of an item', { output: [{ type: 'message', content: { run: wipe } }] }],
    [
      'an object as the content of a part',
      { content: [{ type: 'text', text: 'ok', content: { run: wipe } }] },
    ],
    // prettier-ignore
    ['an object in a candidate', { candidates: [{ content: { parts: [{ text: 'ok' }] }, ran: { run: wipe } }] }],
    // prettier-ignore
    ['an object in a kept message', { messages: [{ type: 'ai', data: { content: 'ok', ran: { run: wipe } } }] }],
    ['an object for choices', { choices: { run: wipe } }],
    ['an object for steps', { text: 'ok', steps: { run: wipe } }],
    ['a list for a message', { message: [{ run: wipe }] }],
    ['a list for a choice', { choices: [[{ run: wipe }]] }],
    ['a list for an item', { output: [[{ run: wipe }]] }],
    ['a list for a candidate', { candidates: [[{ run: wipe }]] }],
    ['an object for parts', { candidates: [{ content: { parts: { run: wipe } } }] }],
    ['an object in an entry', { data: [{ url: 'u', ran: { run: wipe } }] }],
    // prettier-ignore
    ['an object beside the message', { output: { message: { content: [{ text: 'ok' }] }, ran: { run: wipe } } }],
    ['an object in what a function gave back', { result: { ran: { run: wipe } } }],
    ['calls without a name', ofGroq({ tool_calls: [{ id: 'c' }] })],
    ['a command', { text: 'ok', command: wipe }],
    ['the words of a command', { text: 'ok', cmd: ['rm', '-rf', '/'] }],
    ['code', { result: { code: 'import os' } }],
    ['what a tool is given', { plan: 'ok', input: { run: wipe } }],
  ])('in a form that is not known is left to a reader: %s', (_name, response) => {
    expect(answered(response)).toMatchObject({ reason: 'detectors_undecided' })
  })

  // prettier-ignore
  const wordsAlone: [string, unknown][] = [
    ['Gemini', ofGemini({ text: 'hm', thought: true, thoughtSignature: 'x' }, { text: 'ok' })],
    ['a chat', ofGroq({ reasoning_details: [{ text: 'hm' }], annotations: [{ url: 'u' }], tool_calls: [] })],
    [
      'Messages',
      {
        type: 'message',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'ok' },
        ],
      },
    ],
    ['Responses', { output: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] }, { type: 'message', content: [{ type: 'output_text', text: 'ok' }] }] }],
    ['Bedrock', { output: { message: { content: [{ reasoningContent: {} }, { text: 'ok' }] } } }],
    [
      'Interactions',
      { steps: [{ type: 'thought' }, { type: 'model_output', content: [{ type: 'text', text: 'ok' }] }] },
    ],
    ['Ollama', { message: { role: 'assistant', content: 'ok' }, done: true }],
    ['Replicate', { output: ['o', 'k'], urls: { get: 'u' } }],
    ['Dify', { answer: 'ok', message_id: 'm', metadata: { retriever_resources: [{ content: 'x' }] } }],
    ['embeddings', { object: 'list', data: [{ embedding: [1] }] }],
    ['an error', { error: { message: 'no', details: [{ reason: 'x' }] } }],
    ['an error by itself', { detail: [{ loc: ['body'], msg: 'no' }], code: 'NOT_FOUND' }],
    [
      'a chat of Azure',
      {
        ...{ object: 'chat.completion', system_fingerprint: 'fp', prompt_filter_results: [{ prompt_index: 0, content_filter_results: { hate: { severity: 'safe' } } }] },
        choices: [
          {
            ...{ index: 0, finish_reason: 'stop', logprobs: { content: [{ token: 'ok', top_logprobs: [] }] } },
            content_filter_results: { hate: { filtered: false, severity: 'safe' } },
            message: { role: 'assistant', content: 'ok', refusal: null, context: { citations: [{ url: 'u' }] } },
          },
        ],
      },
    ],
    ['a completion', { object: 'text_completion', choices: [{ text: 'ok', index: 0, logprobs: { tokens: ['ok'] } }], x_groq: { id: 'r' } }],
    [
      'all that Responses repeat',
      {
        ...{ object: 'response', status: 'completed', instructions: [{ type: 'message', content: 'P' }], text: { format: { type: 'json_schema', name: 'n', schema: {} } } },
        ...{ reasoning: { effort: 'low' }, tools: [{ type: 'function', name: 'f' }], tool_choice: { type: 'function', name: 'f' }, conversation: { id: 'c' }, billing: { payer: 'p' } },
        output: [{ type: 'message', content: [{ type: 'output_text', text: 'ok' }] }],
      },
    ],
    ['a message in a container', { type: 'message', content: [{ type: 'text', text: 'ok' }], container: { id: 'c' }, context_management: { applied_edits: [{ type: 'clear' }] } }],
    ['Gemini with its sources', { candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, groundingMetadata: { webSearchQueries: ['q'] }, safetyRatings: [{ category: 'c' }] }], promptFeedback: { safetyRatings: [{ category: 'c' }] }, usageMetadata: { trafficType: 't' } }],
    ['Bedrock with its trace', { output: { message: { role: 'assistant', content: [{ text: 'ok' }] } }, stopReason: 'end_turn', trace: { guardrail: { inputAssessment: {} } }, ResponseMetadata: { RequestId: 'r' } }],
    ['a run of LangGraph', { messages: [{ type: 'human', content: 'P' }, { type: 'ai', content: 'ok', tool_calls: [], additional_kwargs: { refusal: null }, response_metadata: { model_name: 'm' } }] }],
    ['Cohere', { id: 'm', message: { role: 'assistant', content: [{ type: 'text', text: 'ok' }], tool_plan: 'p', citations: [{ sources: [{ type: 'tool' }] }] } }],
    ["Cohere's first", { text: 'ok', chat_history: [{ role: 'USER', message: 'P' }], documents: [{ id: 'd' }], meta: { tokens: { input_tokens: 1 } } }],
    ['DashScope', { output: { choices: [{ message: { role: 'assistant', content: 'ok' } }] }, request_id: 'r' }],
    ['Cloudflare', { result: { response: 'ok', usage: {} }, success: true, errors: [], messages: [] }],
    ['a workflow of Dify', { workflow_run_id: 'w', data: { status: 'succeeded', outputs: { text: 'ok' }, created_by: { id: 'u' } } }],
    ['a prediction', { output: 'ok', input: { prompt: { text: 'P' } }, urls: { get: 'u' } }],
    ['a transcript on Replicate', { output: { transcription: 'ok', detected_language: 'en', segments: [{ id: 0, text: 'ok' }] }, urls: { get: 'u' } }],
    ['a kept message of LangChain', { messages: [{ type: 'ai', data: { content: 'ok', additional_kwargs: {} } }] }],
    ["llama.cpp's own", { content: 'ok', generation_settings: { samplers: ['top_k'] }, completion_probabilities: [{ token: 'ok' }], timings: { predicted_n: 1 } }],
    ['words of Ollama', { response: 'ok', context: [1, 2], done: true }],
    ['pictures', { data: [{ b64_json: 'x', revised_prompt: 'P' }, { url: 'u' }], usage: {} }],
    ['vectors', { data: [{ object: 'embedding', embedding: { float: [1] }, index: 0 }], model: 'm' }],
    ['what a function gave back', { result: { city: 'Bern', temp: 3, days: ['Mon', 'Tue'] } }],
    ['words that a function gave back', { result: 'ok' }],
    ['a list of them', { result: ['a', 'b'] }],
    ["an application's own", { ok: true, city: 'Bern' }],
  ]
  test.each(wordsAlone)('and words alone are no call: %s', (_name, response) => {
    expect(answered(response)).toMatchObject({ value: 1 })
  })
})

test.each([
  ['is plain', { type: 'text' }, true],
  ['of a kind that nobody knows is not', { type: 'ran', run: 'rm' }, false],
])('what stands very deep and %s', (_name, part, expected) => {
  const deep = Array.from({ length: 20_000 }).reduce<object>(
    (inner) => ({ type: 'message', content: [inner] }),
    part,
  )
  expect(isPlainAnswer({ output: [deep] })).toBe(expected)
})

test('what stands in each other by the names of holders costs what it is worth, and is not plain', () => {
  const nested = (depth: number) =>
    JSON.parse(`${'{"output":'.repeat(depth)}"ok"${'}'.repeat(depth)}`) as unknown
  expect(isPlainAnswer(nested(100_000))).toBe(false)
  expect(outgrows(100_000, nested, isPlainAnswer)).toBe(false)
})
