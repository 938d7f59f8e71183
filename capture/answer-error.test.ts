import { expect, test } from '@jest/globals'
import { errorOfAnswer } from './answer-error.ts'

test.each<[string, unknown, number | undefined, string | null]>([
  ['OpenAI, Anthropic, Google', { error: { message: 'no such model' } }, 404, 'no such model'],
  ['a text', { error: 'overloaded' }, 200, 'overloaded'],
  ['Cohere, Mistral, Bedrock', { message: 'invalid api token' }, 401, 'invalid api token'],
  ['an answer with a message that is none', { message: 'Hello', error: null }, 200, null],
  ['what cannot be stored', { error: 'a\u0000b\ud83d \u{1f600}' }, 500, 'a\ufffdb\ufffd \u{1f600}'],
  ['nothing', undefined, 500, null],
])('%s', (_name, answer, status, said) => {
  expect(errorOfAnswer(answer, status)).toBe(said)
})
