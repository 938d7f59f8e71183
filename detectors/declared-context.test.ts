import { expect, test } from '@jest/globals'
import { readCall } from './call-text.ts'

const body = (value: unknown) => ({ json: JSON.stringify(value), value })

test('context that the application declared is all of its text, whoever says it', () => {
  const message = (role: string, content: unknown) => ({ role, content })
  const parts = [{ type: 'text', text: 'Second.' }]
  const messages = [message('system', 'Be kind.'), message('user', 'First.'), message('assistant', parts)]
  const metadata = JSON.stringify({ 'sluice.context': ['1', '/messages/2/content', '7'] })
  const usage = { prompt_tokens: null, completion_tokens: null, reasoning_tokens: null, cost_usd: null }
  const { texts } = readCall(body({ messages }), body({ said: 'First.' }), { ...usage, metadata })
  expect(texts.map(({ text, context }) => [text, context])).toEqual([
    ['Be kind.', undefined],
    ['First.', [{ start: 0, end: 6 }]],
    ['Second.', [{ start: 0, end: 7 }]],
    ['First.', undefined],
  ])
})
