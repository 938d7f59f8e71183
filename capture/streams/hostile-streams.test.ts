import { expect, test } from '@jest/globals'
import { assembleStream } from './assemble-stream.ts'

const word = 'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"A"}}]}\n\n'

test.each([
  ['some events that are no JSON', 'data: {\n\n'.repeat(1_000), 'AA'],
  ['very many that are none', 'data: {\n\n'.repeat(60_000), undefined],
  ['very many that are no objects', 'data: x\n\n'.repeat(60_000), 'AA'],
])('a stream with %s costs little', (_name, broken, content) => {
  const begunMs = performance.now()
  const assembled = assembleStream(word + broken + word)
  expect(performance.now() - begunMs).toBeLessThan(1_500)
  const [choice] = (assembled?.body['choices'] ?? []) as { message: { content: string } }[]
  expect(choice?.message.content).toBe(content)
})
