import { expect, test } from '@jest/globals'
import { AnswerReader, type Answer } from './read-answer.ts'

test('what is kept of an answer keeps nothing else of it', async () => {
  const limits = { timeoutMs: 60_000, restMs: 60_000, excerptBytes: 2_048, maxBytes: 10_000_000 }
  const answer = Promise.withResolvers<Answer>()
  const reader = new AnswerReader(limits, answer.resolve)
  reader.onBytes(Buffer.from('HTTP/1.1 200 OK\r\n'))
  const chunk = Buffer.alloc(1_000_000, 'x')
  for (const part of [chunk.subarray(0, 2_000), chunk]) reader.onData(part)
  reader.onEnd()
  const { excerpt } = await answer.promise
  expect(excerpt.toString()).toBe('x'.repeat(2_048))
  // Small ones share a piece of memory with others.
  expect(excerpt.buffer.byteLength).toBeLessThanOrEqual(Buffer.poolSize)
})
