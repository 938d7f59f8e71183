import { expect, test } from '@jest/globals'
import { textsOfCall } from './texts-of-call.ts'

test.each<[string, unknown, string]>([
  ["OpenAI's and Google's failure", { error: { message: 'no such model', type: 'invalid', code: 404 } }, ''],
  ["Anthropic's failure", { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, ''],
  ["vLLM's failure", { object: 'error', message: 'The model is not there', type: 'NotFoundError' }, ''],
  ["Mistral's failure", { object: 'error', message: { detail: [{ msg: 'Field required' }] } }, ''],
  [
    'a stream that broke off',
    { choices: [{ message: { content: 'So' } }], error: { message: 'down' } },
    'So',
  ],
  ['an answer in a shape of nobody', { reply: 'So', error: null }, 'So'],
  // prettier-ignore
  ["Gemini's thoughts", { candidates: [{ content: { parts: [{ text: 'Hm', thought: true }, { text: 'So' }] } }] }, 'So'],
  // prettier-ignore
  ["Anthropic's thoughts", { content: [{ type: 'thinking', thinking: 'Hm' }, { type: 'text', text: 'So' }] }, 'So'],
])('what the model answered: %s', (_name, response, answer) => {
  expect(textsOfCall({ messages: [{ role: 'user', content: 'P' }] }, response).answer).toBe(answer)
})
