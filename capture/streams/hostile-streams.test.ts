import { afterEach, expect, jest, test } from '@jest/globals'
import { assembleStream } from './assemble-stream.ts'

const word = 'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"A"}}]}\n\n'

afterEach(() => {
  jest.restoreAllMocks()
})

test.each([
  ['some events that are no JSON', 'data: {\n\n'.repeat(1_000), 'AA'],
  ['very many that are none', 'data: {\n\n'.repeat(60_000), undefined],
  ['very many that are no objects', 'data: x\n\n'.repeat(60_000), 'AA'],
])('of a stream with %s few are parsed', (_name, broken, content) => {
  const parse = jest.spyOn(JSON, 'parse')
  const assembled = assembleStream(word + broken + word)
  expect(parse.mock.calls.length).toBeGreaterThan(0)
  expect(parse.mock.calls.length).toBeLessThan(2_000)
  const [choice] = (assembled?.body['choices'] ?? []) as { message: { content: string } }[]
  expect(choice?.message.content).toBe(content)
})
