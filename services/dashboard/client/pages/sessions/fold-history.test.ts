import { expect, test } from '@jest/globals'
import { readConversation } from '../request/read-conversation.ts'
import { foldHistory } from './fold-history.ts'

const user = (content: string) => ({ role: 'user', content })
const model = (content: string) => ({ role: 'assistant', content })
const system = { role: 'system', content: 'Be brief.' }
const call = (messages: unknown[], answer: string) =>
  readConversation({ messages }, { choices: [{ message: model(answer) }] })
const counts = (calls: Parameters<typeof foldHistory>[0]) =>
  foldHistory(calls).map(({ repeated, fresh }) => [repeated.length, fresh.length])

test('what a call repeats is folded, also the answers of the calls before', () => {
  const first = [system, user('One?')]
  const second = [...first, model('1'), user('Two?')]
  expect(
    counts([call(first, '1'), call(second, '2'), call([...second, model('2'), user('Three?')], '3')]),
  ).toEqual([
    [0, 3],
    [3, 2],
    [5, 2],
  ])
})

test('what somebody says again is said again', () => {
  const first = [user('yes')]
  expect(counts([call(first, 'ok'), call([...first, model('ok'), user('yes')], 'ok')])).toEqual([
    [0, 2],
    [2, 2],
  ])
})

test('another agent of the session has instructions of its own', () => {
  expect(
    counts([call([system, user('a')], '1'), call([{ role: 'system', content: 'Be long.' }, user('b')], '2')]),
  ).toEqual([
    [0, 3],
    [0, 3],
  ])
})

test('the result of a recorded tool call is not shown again with the call that reads it', () => {
  const tool = readConversation(
    { type: 'mcp_tool_call', tool_name: 'find', arguments: { q: 'x' } },
    { text: 'found' },
  )
  const reads = call([user('Find x.'), model('Wait.'), { role: 'tool', content: 'found' }], 'There.')
  const [, after] = foldHistory([tool, reads])
  expect(after?.repeated.map(({ speaker }) => speaker)).toEqual(['tool'])
  expect(counts([tool, reads])).toEqual([
    [0, 2],
    [1, 3],
  ])
})
