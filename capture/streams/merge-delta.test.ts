import { expect, test } from '@jest/globals'
import { assembleStream } from './assemble-stream.ts'
import { entryAt, inOrder, mergeDelta } from './merge-delta.ts'

test.each([
  ['a call that is named again in every chunk', ['f {"a', 'f ":', 'f {"b":1}}', 'f '], ['{"a":{"b":1}}']],
  ['calls of one function, each whole', ['f {"a":1}', 'f {"a":2}', 'f {}'], ['{"a":1}', '{"a":2}', '{}']],
  ['calls of one function in pieces', ['f ', ' {"a":', ' 1}', 'f ', ' {}'], ['{"a":1}', '{}']],
  ['a call after one of another function that was cut off', ['f {"a', 'g {}'], ['{"a', '{}']],
])('tool calls under one index: %s', (_name, pieces, expected) => {
  const chunks = pieces.map((piece, at) => {
    const [name, text] = piece.split(/ (.*)/)
    const call =
      name === '' ? { function: { arguments: text } } : { id: `c${at}`, function: { name, arguments: text } }
    const choices = [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] } }]
    return `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices })}\n\n`
  })
  const tool_calls = expected.map((text) => ({ function: { arguments: text } }))
  expect(assembleStream(chunks.join(''))?.body).toMatchObject({ choices: [{ message: { tool_calls } }] })
})

test('names come whole, the first that is none is no name, and lists with an index end somewhere', () => {
  const call: Record<string, unknown> = {}
  for (const delta of [{ id: '', text: 'a' }, { id: 'c1' }, { id: 'c1', text: 'b' }]) mergeDelta(call, delta)
  expect(call).toEqual({ id: 'c1', text: 'ab' })
  const many: Record<string, unknown> = {}
  for (let index = 0; index < 1_030; index++) mergeDelta(many, { calls: [{ index }] })
  expect(many['calls']).toHaveLength(1_024)
})

test('entries stand in the order of their index, whatever index a host gives', () => {
  const entries = new Map<number, unknown>()
  for (const index of [2, 1, -1, 0, 'x', 5_000, 1e300]) entryAt(entries, index, () => index)
  expect(inOrder(entries)).toEqual([-1, 1, 2, 5_000])
})
