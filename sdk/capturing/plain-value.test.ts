import { expect, test } from '@jest/globals'
import { createPlainWalk, plainValue, takeValue } from './plain-value.ts'

/** The kinds of values are in trace.test.ts. */
const text = 'y'.repeat(60_000)
const lengthOf = (value: unknown) => JSON.stringify(value).length

test('the texts of one walk, and of all values that share one, are bounded together', () => {
  expect(lengthOf(plainValue(Array(500).fill(text)))).toBeLessThan(1_200_000)
  const names = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`${index}${text}`, 1]))
  expect(lengthOf(plainValue(names))).toBeLessThan(1_200_000)
  const { plain } = createPlainWalk()
  expect(lengthOf(Array.from({ length: 500 }, () => plain([text])))).toBeLessThan(1_200_000)
})

test('the values of one walk are bounded, at each depth', () => {
  const wide = Array.from({ length: 1_000 }, () => Array(1_000).fill(1) as number[])
  expect(lengthOf(plainValue(wide))).toBeLessThan(100_000)
  expect(lengthOf(plainValue([new Set(wide), new Map(wide.map((list) => [list, list]))]))).toBeLessThan(
    100_000,
  )
})

test('a text that is cut ends with a whole character', () => {
  const text = `${'x'.repeat(64 * 1024 - 1)}\u{1f600}`
  expect(plainValue(text)).toBe(`${'x'.repeat(64 * 1024 - 1)}… (2 more characters)`)
})

test.each<[string, unknown]>([
  ['a text', [text.repeat(2)]],
  ['a list', Array(1_001).fill('a')],
  ['a list that begins with numbers', [...Array<number>(1_001).fill(1), 'a']],
  ['a list of numbers of cards', [...Array<number>(1_001).fill(0.5), 4111111111111111]],
  ['a list of numbers of people', new Set(Array.from({ length: 1_001 }, (_, index) => -1_000_000 - index))],
  ['a list too long to be looked through', Array<number>(101_001).fill(0.5)],
  ['fields', Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`f${index}`, 1]))],
  ['too many values', Array.from({ length: 30 }, () => Array(1_000).fill('a') as string[])],
  ['too many levels', JSON.parse('['.repeat(20) + ']'.repeat(20))],
])('says that %s was cut', (_name, value) => {
  expect(takeValue(value).isCut).toBe(true)
})

test.each<[string, unknown]>([
  ['what is whole', { a: [text, 1, null, new Date(), () => 1] }],
  ['a vector', [{ embedding: Array(1_536).fill(0.5) }]],
  ['tokens', [{ tokens: Array(100_000).fill(199_999) }]],
])('of %s no words are missing', (_name, value) => {
  expect(takeValue(value).isCut).toBe(false)
})

test('what cannot even be named, or be thrown as text', () => {
  const odd = Object.defineProperty(() => 1, 'name', { value: Symbol('odd') })
  const error = Object.create(null) as Error
  const bad = { get bad() { throw error } } // prettier-ignore
  expect(plainValue([odd, bad])).toEqual([
    expect.stringMatching(/^\[unreadable/),
    { bad: '[unreadable: an error that has no text]' },
  ])
})

test('what LangChain makes is what it holds, under the name of its class', () => {
  // @langchain/core/load/serializable.ts
  class Message {
    readonly kwargs: object
    constructor(kwargs: object) {
      this.kwargs = kwargs
    }
    toJSON() {
      return {
        lc: 1,
        type: 'constructor',
        id: ['langchain_core', 'messages', 'AIMessage'],
        kwargs: this.kwargs,
      }
    }
  }
  const inner = new Message({ content: 'Hi' })
  expect(plainValue({ messages: [new Message({ content: 'Ahoy', additional_kwargs: { inner } })] })).toEqual({
    messages: [
      { AIMessage: { content: 'Ahoy', additional_kwargs: { inner: { AIMessage: { content: 'Hi' } } } } },
    ],
  })
  expect(plainValue({ toJSON: () => ({ lc: 1, type: 'not_implemented', id: ['x'] }) })).toEqual({
    lc: 1,
    type: 'not_implemented',
    id: ['x'],
  })
})
