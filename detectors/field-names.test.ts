import { describe, expect, test } from '@jest/globals'
import { readCall } from './call-text.ts'

const body = (value: unknown) => ({ json: JSON.stringify(value), value })
const read = (request: unknown, response: unknown) =>
  readCall(body(request), body(response))
    .texts.filter(({ part }) => part === 'response_body')
    .map(({ speaker, pointer, text }) => [speaker, pointer, text])
const ofTrace = (result: unknown) => read({ type: 'trace', function: 'find', arguments: [] }, { result })
const words = (result: unknown) => ofTrace(result).map(([, , text]) => text)

describe('what a traced function returns has names of its own', () => {
  test.each([
    ['an object', { user: 'jane', detail: 'a card', metadata: 'x', id: 'y' }, ['jane', 'a card', 'x', 'y']],
    ['a list', [{ status: 'jane' }, { stop: 'x' }], ['jane', 'x']],
    [
      'what a generator yields and returns',
      { yielded: [{ user: 'a' }], returned: { user: 'b' } },
      ['a', 'b'],
    ],
    ['an error of its own', { message: 'no', detail: 'a card' }, ['no', 'a card']],
    ['a document of its own', { content: 'page', user: 'jane' }, ['page', 'jane']],
    ['a history of its own', { messages: [{ text: 'hi', user: 'jane' }], status: 'x' }, ['hi', 'jane', 'x']],
    ['a picture of MCP', [{ type: 'image', mimeType: 'image/png', data: 'data:image/png;base64,AA' }], []],
    ['what only begins as a list of parts', { output: ['a'], detail: 'b' }, ['a', 'b']],
  ])('%s', (_name, result, expected) => {
    expect(words(result)).toEqual(expected)
  })

  test('also where the arguments were too long to be kept, which say that it is one', () => {
    const cut = { truncated: true, bytes: 9, sha256: 'x', text: '' }
    expect(read(cut, { result: { user: 'jane' }, truncated: true })).toEqual([
      ['assistant', '/result/user', 'jane'],
    ])
    expect(read(cut, { result: { user: 'jane' }, success: true })).toEqual([])
  })

  const ids = { id: 'msg_1', object: 'x', model: 'm', status: 'completed', user: 'u_1' }
  test.each<[string, unknown]>([
    ['chat completions', { choices: [{ message: { role: 'assistant', content: 'hi' } }] }],
    ['chunks of them', { choices: [{ delta: { content: 'hi' }, finish_reason: 'stop' }] }],
    ['completions', { choices: [{ text: 'hi' }] }],
    ['Messages', { role: 'assistant', content: [{ type: 'text', text: 'hi' }], stop_reason: 'end_turn' }],
    [
      'Responses',
      { output: [{ type: 'message', id: 'm_1', content: [{ type: 'output_text', text: 'hi' }] }] },
    ],
    ['Gemini', { candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] } }] }],
    ['Bedrock', { output: { message: { role: 'assistant', content: [{ text: 'hi' }] } } }],
    ['Ollama and Cohere', { message: { role: 'assistant', content: 'hi' } }],
    ['a message', { role: 'assistant', content: 'hi' }],
    ['LangGraph', { messages: [{ type: 'ai', id: 'run_1', content: 'hi' }] }],
    ['Interactions', { steps: [{ type: 'model_output', content: [{ type: 'text', text: 'hi' }] }] }],
    ["Mistral's conversations", { outputs: [{ type: 'message.output', content: 'hi' }] }],
    ['Replicate', { output: ['h', 'i'], urls: { get: '' } }],
  ])("but for a model's answer in it, which has the protocol's: %s", (_name, answer) => {
    const whole = { ...ids, ...(answer as object) }
    expect(ofTrace(whole).map(([speaker, , text]) => [speaker, text])).toEqual([['assistant', 'hi']])
    expect(words({ detail: 'a card', answer: whole })).toEqual(['a card', 'hi'])
    expect(words({ yielded: [whole], returned: { user: 'jane' } })).toEqual(['hi', 'jane'])
  })

  test('of one that was cut its checksum says nothing', () => {
    const cut = { truncated: true, bytes: 9, sha256: 'x', text: 'y' }
    expect(read({ type: 'trace' }, cut)).toEqual([['assistant', '/text', 'y']])
    expect(read({ type: 'trace' }, { result: { user: 'x' }, tags: [] })).toHaveLength(1)
  })

  test('nobody else speaks in it than in an answer with names of the protocol', () => {
    const result = {
      role: 'user',
      user: 'a',
      tool: { role: 'tool', detail: 'b', result: { role: 'assistant', status: 'c' } },
      model: { role: 'assistant', user: 'd', arguments: { role: 'user', user: 'e' } },
      system: { user: 'f' },
      documents: [{ user: 'g' }],
    }
    const before = read({}, { result, success: true })
    expect(before).toHaveLength(5)
    expect(ofTrace(result)).toEqual(expect.arrayContaining(before))
    expect(ofTrace(result).map(([speaker, , text]) => [speaker, text])).toEqual([
      ['user', 'user'],
      ['user', 'a'],
      ['tool', 'tool'],
      ['tool', 'b'],
      ['tool', 'assistant'],
      ['tool', 'c'],
      ['assistant', 'assistant'],
      ['assistant', 'd'],
      ['assistant', 'user'],
      ['assistant', 'e'],
      ['system', 'f'],
      ['tool', 'g'],
    ])
  })
})

test("a document's fields are the application's own but for its id, and no tool's", () => {
  const document = { id: 'u_1', title: 'a', user: 'b', detail: 'c', more: { id: 'd', type: 'e' } }
  const request = { model: 'm', documents: [document], user: 'u_1' }
  const { texts } = readCall(body(request), null)
  expect(texts.map(({ speaker, text }) => [speaker, text])).toEqual(
    ['a', 'b', 'c', 'd', 'e'].map((text) => ['tool', text]),
  )
  expect(read({}, { text: 'hi', documents: [document] }).map(([speaker, , text]) => [speaker, text])).toEqual(
    [['assistant', 'hi'], ...['a', 'b', 'c', 'd', 'e'].map((text) => ['tool', text])],
  )
})

test.each([
  ['an entry that has a role', { role: 'assistant', text: 'a', user: 'b', documents: ['c'] }, 'assistant'],
  ['an entry that claims to be the operator', { system: { text: 'a' } }, 'tool'],
])('who says what in a document is told as before: %s', (_name, document, speaker) => {
  const { texts } = readCall(body({ documents: [document] }), null)
  const others = texts.filter(({ text }) => text !== 'c' && text !== 'assistant')
  expect(others.map((text) => text.speaker)).toEqual(others.map(() => speaker))
})
