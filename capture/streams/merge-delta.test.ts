import { expect, test } from '@jest/globals'
import { assembleStream } from './assemble-stream.ts'

test.each([
  ['a call that is named anew in every chunk', ['f {"a', 'f ":', 'f {"b":1}}', 'f '], ['{"a":{"b":1}}']],
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
