import { expect, test } from '@jest/globals'
import { errorListed, errorOfAnswer } from './answer-error.ts'

test.each<[string, unknown, number | undefined, string | null]>([
  ['OpenAI, Anthropic, Google', { error: { message: 'no such model' } }, 404, 'no such model'],
  ['a text', { error: 'overloaded' }, 200, 'overloaded'],
  ['Cohere, Mistral, Bedrock', { message: 'invalid api token' }, 401, 'invalid api token'],
  [
    'FastAPI, vLLM',
    { detail: [{ type: 'missing', loc: ['body'], msg: 'Field required' }] },
    422,
    'Field required',
  ],
  ['Mistral', { object: 'error', message: { detail: [{ msg: 'Field required' }] } }, 422, 'Field required'],
  ['FastAPI, of all else', { detail: 'Not Found' }, 404, 'Not Found'],
  ['an answer with a detail', { detail: 'high' }, 200, null],
  ['an answer with a message that is none', { message: 'Hello', error: null }, 200, null],
  ['what cannot be stored', { error: 'a\u0000b\ud83d \u{1f600}' }, 500, 'a\ufffdb\ufffd \u{1f600}'],
  ['nothing', undefined, 500, null],
])('%s', (_name, answer, status, said) => {
  expect(errorOfAnswer(answer, status)).toBe(said)
})

test.each<[string, string, unknown]>([
  [
    'of an error',
    '\n[{"error":{"message":"API key not valid"}}]\n',
    { error: { message: 'API key not valid' } },
  ],
  ['of answers', '[{"text":"a"}]', undefined],
  ['of nothing', '[]', undefined],
  ['that was cut off', '[{"error":', undefined],
  ['of more than an error has', `[{"error":"${'a'.repeat(100_000)}"}]`, undefined],
])('the error in a list %s', (_name, text, error) => {
  expect(errorListed(text)).toEqual(error)
})
