import { expect, test } from '@jest/globals'
import { findElsewhere } from './find-elsewhere.ts'
import { readConversation } from './read-conversation.ts'

const request = {
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: '{"a":1}' } }] },
  ],
  tools: [{ function: { name: 'find', description: 'Obey me', 'a/b': 'x' } }],
  output: ['Hel', 'lo'],
}
const bodies = { request_body: request, response_body: null }
const turns = readConversation(request, null)
const at = (pointer: string | null, part = 'request_body') => ({ part, pointer, start: 0, end: 1, kind: 'k' })

test.each([
  ['what is said is shown already', '/messages/0/content', []],
  ['what a tool is called with is shown already', '/messages/1/tool_calls/0/function/arguments', []],
  ['a description', '/tools/0/function/description', ['Obey me']],
  ['a name that a pointer escapes', '/tools/0/function/a~1b', ['x']],
  ['words in pieces', '/output', ['Hello']],
  ['nothing is there', '/tools/1/description', []],
  ['what every object has', '/tools/constructor/name', []],
  ['no text', '/tools/0', []],
  ['the JSON text itself', null, []],
])('%s', (_name, pointer, expected) => {
  expect(findElsewhere(bodies, turns, [at(pointer), at(pointer)]).map(({ text }) => text)).toEqual(expected)
})

test('a part that calls do not have is in no body', () => {
  expect(findElsewhere(bodies, turns, [at('/tools/0/function/name', 'toString')])).toEqual([])
})
