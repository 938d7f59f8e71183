import { describe, expect, test } from '@jest/globals'
import { detectCall } from '../../testing/detect-call.ts'
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
    ['/candidates/0/content/parts/0/toolCall/args/command', ofGemini({ toolCall: { toolType: 'X', args: { command: wipe } } })], // prettier-ignore
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
  ])('in a form that is not known is left to a reader: %s', (_name, response) => {
    expect(answered(response)).toMatchObject({ reason: 'detectors_undecided' })
  })

  test.each<[string, unknown]>([
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
    ['Responses', { output: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] }, { type: 'message', content: [{ type: 'output_text', text: 'ok' }] }] }], // prettier-ignore
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
  ])('and words alone are no call: %s', (_name, response) => {
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
