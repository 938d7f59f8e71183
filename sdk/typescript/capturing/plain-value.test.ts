import { describe, expect, test } from '@jest/globals'
import { runInNewContext } from 'node:vm'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { createPlainWalk, plainValue, takeSnapshot } from './plain-value.ts'

/** Clients otherwise hold Jest's console, which has streams. */
const noLog = () => undefined
const logger = { error: noLog, warn: noLog, info: noLog, debug: noLog }
/** trace.test.ts covers the kinds of values. */
const text = 'y'.repeat(60_000)
const lengthOf = (value: unknown) => JSON.stringify(value).length

test('keys of clients are not recorded, those that a function was given are', () => {
  const apiKey = 'sk-very-secret'
  const clients = [
    new OpenAI({ apiKey, defaultHeaders: { Authorization: apiKey } }),
    new Anthropic({ apiKey }),
    new GoogleGenAI({ apiKey }),
  ]
  expect(JSON.stringify(plainValue(clients))).not.toContain(apiKey)
  expect(plainValue([{ apiKey }])).toEqual([{ apiKey }])
})

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
  expect(takeSnapshot(value).isCut).toBe(true)
})

test.each<[string, unknown]>([
  ['what is whole', { a: [text, 1, null, new Date(), () => 1] }],
  ['a vector', [{ embedding: Array(1_536).fill(0.5) }]],
  ['tokens', [{ tokens: Array(100_000).fill(199_999) }]],
  ['a vector of a type of its own', [new Float32Array(1_536).fill(0.5), new Uint32Array([199_999])]],
  ['no bytes', Buffer.alloc(0)],
  ['no fields', [{}, Object.create(null), new Map(), new Set(), runInNewContext('({})')]],
  ['what tells to stop', [new AbortController(), AbortSignal.abort()]],
  ['what consists of methods', new (class Loader { load() { return 1 } })()], // prettier-ignore
  [
    'clients',
    [
      new OpenAI({ apiKey: 'k', logger }),
      new Anthropic({ apiKey: 'k', logger }),
      new GoogleGenAI({ apiKey: 'k' }),
    ],
  ],
  ['an error that has nothing more', new TypeError('no')],
  ['fields with the names of methods', { then: 1, getReader: 'x', arrayBuffer: [] }],
])('of %s no words are missing', (_name, value) => {
  expect(takeSnapshot(value).isCut).toBe(false)
})

describe('what holds words that nobody sees is named, and not called whole', () => {
  const words = 'The card is 4111 1111 1111 1111'
  class Private {
    #words = words
    get words() {
      return this.#words
    }
  }
  const besides = new WeakMap<object, string>()
  class Beside {
    constructor(said: string) {
      besides.set(this, said)
    }
    said() {
      return besides.get(this)
    }
  }
  class Feed {
    topic = 'cards'
    async *[Symbol.asyncIterator]() {
      yield await Promise.resolve(words)
    }
  }
  const counting = function* () {
    yield words
  }
  const countingLater = async function* () {
    yield await Promise.resolve(words)
  }
  const fake = { ok: true, arrayBuffer: () => Promise.resolve(Buffer.from(words)) }
  const form = new FormData()
  form.append('to', 'Jane')
  form.append('file', new Blob([words]))
  const error = Object.assign(new Error('no', { cause: words }), { name: 'Refused', body: words })

  test.each<[string, unknown, unknown]>([
    ['a stream', new ReadableStream(), '[ReadableStream]'],
    ['an answer', new Response(words), '[Response]'],
    ['a request', new Request('http://a/', { method: 'POST', body: words }), '[Request]'],
    ['headers', new Headers({ authorization: 'k' }), '[Headers]'],
    ['a file', new Blob([words]), '[Blob]'],
    ['a form with a file', form, { FormData: [['to', 'Jane'], ['file', '[File]']] }], // prettier-ignore
    ['a buffer', Buffer.from(words), '[Buffer of 31 bytes]'],
    ['bytes', new TextEncoder().encode(words), '[Uint8Array of 31 bytes]'],
    ['UTF-16', new Uint16Array([52, 49]), '[Uint16Array of 4 bytes]'],
    ['memory', new ArrayBuffer(8), '[ArrayBuffer of 8 bytes]'],
    ['a view of memory', new DataView(new ArrayBuffer(8)), '[DataView of 8 bytes]'],
    ['numbers of cards', new Float64Array([4111111111111111]), '[Float64Array of 8 bytes]'],
    ['a promise', Promise.resolve(words), '[promise]'],
    ['what can be awaited', { then: () => words }, { then: '[function then]' }],
    ['an answer by what it can do', fake, { ok: true, arrayBuffer: '[function arrayBuffer]' }],
    ['a generator', counting(), '[Generator]'],
    ['an async generator', countingLater(), '[AsyncGenerator]'],
    ['an iterator', new Map([[words, 1]]).keys(), '[Map Iterator]'],
    ['a reference', new WeakRef({ words }), '[WeakRef]'],
    ['an instance whose fields stand beside it', new Beside(words), '[Beside]'],
    ['an instance whose fields are private', new Private(), '[Private]'],
    ['fields that are inherited', Object.create({ words }), '[Object]'],
    ['what is iterated later', new Feed(), { topic: 'cards' }],
    ['an error with more than words', error, { name: 'Refused', message: 'no', '…': '[2 more]' }],
    // prettier-ignore
    ['what throws', { get bad() { throw new Error('no') } }, { bad: '[unreadable: Error: no]' }],
  ])('%s', (_name, value, expected) => {
    const taken = takeSnapshot([value])
    expect(JSON.stringify(taken.value)).toBe(JSON.stringify([expected]))
    expect(taken.isCut).toBe(true)
  })
})

test('what JSON holds whole is kept whole: boxed values, and queries', () => {
  const given = [
    Object('text') as object,
    Object(1) as object,
    Object(2n) as object,
    new URLSearchParams({ q: 'a b' }),
  ]
  expect(takeSnapshot(given)).toEqual({ value: ['text', 1, '2', 'q=a+b'], isCut: false })
})

test('an error whose message or name is no text says it all the same, and costs what stands behind it nothing', () => {
  const named = Object.assign(new Error('no'), { name: 404 })
  const refused = Object.assign(new Error(), { message: { code: 3, detail: 'no such model' } })
  expect(takeSnapshot([named, refused, 'words'])).toEqual({
    value: [
      { name: 404, message: 'no' },
      { name: 'Error', message: { code: 3, detail: 'no such model' } },
      'words',
    ],
    isCut: false,
  })
})

test('an answer whose body was read holds nothing more', async () => {
  const response = new Response('words')
  await response.text()
  expect(takeSnapshot({ data: 'words', response })).toEqual({
    value: { data: 'words', response: {} },
    isCut: false,
  })
})

test('no getter is read but those of own fields, and these once', () => {
  const reads: string[] = []
  const read = (name: string) => {
    reads.push(name)
    return () => 'words'
  }
  class Lazy {
    get then() { return read('then') } // prettier-ignore
    get getReader() { return read('getReader') } // prettier-ignore
    get arrayBuffer() { return read('arrayBuffer') } // prettier-ignore
    get [Symbol.asyncIterator]() { return read('asyncIterator') } // prettier-ignore
    get [Symbol.toStringTag]() { return String(read('tag')) } // prettier-ignore
  }
  expect(takeSnapshot(new Lazy())).toEqual({ value: '[Lazy]', isCut: true })
  plainValue({ get then() { return read('own') } }) // prettier-ignore
  expect(reads).toEqual(['own'])
})

test('what cannot even be named, or be thrown as text', () => {
  const odd = Object.defineProperty(() => 1, 'name', { value: Symbol('odd') })
  const error = Object.create(null) as Error
  const bad = { get bad() { throw error } } // prettier-ignore
  expect(plainValue([odd, bad])).toEqual([
    expect.stringMatching(/^\[unreadable/),
    { bad: '[unreadable: an error without a message]' },
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
