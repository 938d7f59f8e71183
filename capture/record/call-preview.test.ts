import { expect, test } from '@jest/globals'
import { toolCallsOf } from '../tool-calls.ts'
import { maxPreviewLength, previewOf, type CallPreview } from './call-preview.ts'

const preview = (request: unknown, response: unknown = null) => {
  const json = previewOf(request, response, toolCallsOf(request, response))
  return json === null ? null : (JSON.parse(json.toString('utf8')) as CallPreview)
}
const chat = (content: unknown) => ({ choices: [{ message: { role: 'assistant', content } }] })
const asks = (...messages: unknown[]) => ({ messages })
const user = (content: unknown) => ({ role: 'user', content })

test.each([
  [
    'the last question and the first answer',
    asks(
      { role: 'system', content: 'Be brief.' },
      user('One?'),
      { role: 'assistant', content: '1' },
      user('Two?'),
    ),
    chat('2'),
    { prompt: 'Two?', answer: '2' },
  ],
  [
    'a tool result that the model was given last',
    asks(user('Weather?'), { role: 'tool', tool_call_id: 'c', content: '12 °C' }),
    chat('Cold.'),
    { prompt: '12 °C', answer: 'Cold.' },
  ],
  [
    'a tool that is called instead of an answer',
    asks(user('Weather?')),
    {
      choices: [{ message: { tool_calls: [{ function: { name: 'weather', arguments: '{"at":"Bern"}' } }] } }],
    },
    { prompt: 'Weather?', answer: 'weather({"at":"Bern"})' },
  ],
  [
    'several tools by their names',
    asks(user('Go.')),
    {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'tool_use', name: 'a', input: {} },
        { type: 'tool_use', name: 'b', input: {} },
      ],
    },
    { prompt: 'Go.', answer: 'a(), b()' },
  ],
  [
    "a tool call's record",
    { type: 'mcp_tool_call', tool_name: 'read_file', arguments: { path: 'x' } },
    { content: [{ type: 'text', text: 'words' }] },
    { prompt: 'read_file({"path":"x"})', answer: 'words' },
  ],
  ['a prompt', { prompt: 'Once' }, { choices: [{ text: ' upon' }] }, { prompt: 'Once', answer: 'upon' }],
  ['input of responses', { input: 'Hello' }, null, { prompt: 'Hello', answer: null }],
  [
    'Gemini without its thoughts',
    { contents: [{ role: 'user', parts: [{ text: 'Why?' }] }] },
    { candidates: [{ content: { parts: [{ text: 'hm', thought: true }, { text: 'So.' }] } }] },
    { prompt: 'Why?', answer: 'So.' },
  ],
  [
    'words of the user before many steps of the agent',
    asks(user('Start.'), ...Array.from({ length: 20 }, () => ({ role: 'assistant', content: 'step' }))),
    null,
    { prompt: 'Start.', answer: null },
  ],
  [
    'an image with its question',
    asks(user([{ type: 'image_url' }, { type: 'text', text: 'What?' }])),
    null,
    {
      prompt: 'What?',
      answer: null,
    },
  ],
  ['an unknown shape', { anything: ['words'] }, null, { prompt: 'words', answer: null }],
  ['nothing', {}, null, null],
])('%s', (_name, request, response, expected) => {
  expect(preview(request, response)).toEqual(expected)
})

test('is one line without characters that hide, move or reverse text', () => {
  const hostile = 'a\u001b[31m\nb\u202Ec\u200Bd\uFEFF \u0000e\uD800'
  expect(preview(asks(user(hostile)))?.prompt).toBe('a [31m b c d e\uFFFD')
})

test('has at most 160 characters of each side, whatever the text', () => {
  const texts = ['🙂'.repeat(500), `${' '.repeat(100_000)}end`, 'a'.repeat(1_000_000), 'e\u0301'.repeat(400)]
  for (const text of texts) {
    const { prompt, answer } = preview(asks(user(text)), chat(text)) ?? { prompt: null, answer: null }
    expect(Array.from(prompt ?? '').length).toBeLessThanOrEqual(maxPreviewLength)
    expect(prompt).toBe(answer)
    expect(prompt).not.toBe('')
  }
  const largest = previewOf(asks(user('🙂'.repeat(500))), chat('🙂'.repeat(500)), [])
  expect(largest?.length).toBeLessThan(1_330)
})
