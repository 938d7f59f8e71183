import { expect, test } from '@jest/globals'
import { createChatAssembly } from './chat-assembly.ts'

const said = (index: number, more: object = {}, delta: object = { content: 'a' }) => ({
  index,
  delta,
  ...more,
})
const stopped = { finish_reason: 'stop' }

test.each([
  ['every choice', [said(0, stopped), said(1, stopped)], true],
  ['one of two choices', [said(0, stopped), said(1)], false],
  ['no choice', [], false],
])('a stream in which %s has stopped', (_name, choices, ended) => {
  const assembly = createChatAssembly()
  for (const choice of choices) assembly.add({ choices: [choice] })
  assembly.add({ choices: [], usage: { total_tokens: 3 } })
  expect(assembly.ended()).toBe(ended)
})

test.each([
  ['text alone', [said(0)], 'a'],
  ['text and its probabilities', [said(0, { logprobs: { content: [{ token: 'a' }] } })], undefined],
  ['text of two choices', [said(0), said(1)], undefined],
  ['text and a refusal', [said(0, {}, { content: 'a', refusal: 'no' })], undefined],
])('a chunk of %s grows by its text alone, or not', (_name, choices, text) => {
  const assembly = createChatAssembly()
  assembly.add({ choices: [said(0)] })
  expect(assembly.growthOf?.({ choices })?.text).toBe(text)
})
