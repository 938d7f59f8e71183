import { AsyncLocalStorage } from 'node:async_hooks'
import { runInNewContext } from 'node:vm'
import { expect, test } from '@jest/globals'
import { Response as ResponseOfUndici } from 'undici'
import { takeSnapshot } from './plain-value.ts'

const words = 'The card is 4111 1111 1111 1111'

class Colours {
  /** Of page #1. */
  hexOf() {
    return '#fff;' + '#ggg = 1'
  }
}
class Bus extends EventTarget {}

test.each<[string, object]>([
  ['an encoder', new TextEncoder()],
  ['a decoder', new TextDecoder()],
  ['a place for what belongs to a context', new AsyncLocalStorage()],
  ['a target of events', new EventTarget()],
  ['a target of events of a class of its own', new Bus()],
  ['a format of numbers', new Intl.NumberFormat('en')],
  ['a format of times', new Intl.DateTimeFormat('en')],
  ['an order of texts', new Intl.Collator('en')],
  ['a division of texts', new Intl.Segmenter('en')],
  ['a number sign in a text or a comment', new Colours()],
])('%s has no words', (_name, value) => {
  expect(takeSnapshot([value])).toEqual({ value: [{}], isCut: false })
})

test('a language is what it is called', () => {
  expect(takeSnapshot([new Intl.Locale('en-GB')])).toEqual({ value: ['en-GB'], isCut: false })
})

/** Their fields are private, in several notations. */
class Asked {
  #words = words
  said() {
    return this.#words
  }
}
class Spaced {
  // prettier-ignore
  #words = words
  said() {
    return this.#words
  }
}
class Named {
  #größe = words
  said() {
    return this.#größe
  }
}
const hidden = Symbol('hidden')
class Told extends EventTarget {
  readonly [hidden] = words
}

test.each<[string, object]>([
  ['a private field', new Asked()],
  ['a private field that stands apart', new Spaced()],
  ['a private field of letters of another language', new Named()],
  ['a target of events with a field that no list shows', new Told()],
  ['a division of a text', new Intl.Segmenter('en').segment(words)],
])('%s is not called whole', (_name, value) => {
  expect(takeSnapshot([value]).isCut).toBe(true)
})

test.each<[string, Error, unknown, boolean]>([
  // prettier-ignore
  ['of the system', Object.assign(new Error('no'), { errno: -2, code: 'ENOENT', syscall: 'open' }), { errno: -2, code: 'ENOENT', syscall: 'open' }, false],
  // prettier-ignore
  ['of the system with a path', Object.assign(new Error('no'), { code: 'ENOENT', path: '/home/jane' }), { code: 'ENOENT', '…': '[1 more]' }, true],
  ['whose code is no code', Object.assign(new Error('no'), { code: { words } }), { '…': '[1 more]' }, true],
  // prettier-ignore
  ['whose code is asked for', Object.defineProperty(new Error('no'), 'code', { get: () => words }), { '…': '[1 more]' }, true],
  ['with fields that nobody set', Object.assign(new Error('no'), { status: undefined }), {}, false],
  ['of another context', runInNewContext('new Error("no")') as Error, {}, false],
  // prettier-ignore
  ['of another context with a cause', runInNewContext('new Error("no", { cause: 1 })') as Error, { '…': '[1 more]' }, true],
])('an error %s', (_name, error, more, isCut) => {
  expect(takeSnapshot(error)).toEqual({ value: { name: 'Error', message: 'no', ...(more as object) }, isCut })
})

const answered = async <R extends { text: () => Promise<string> }>(response: R): Promise<R> => {
  await response.text()
  return response
}
/** As in node-fetch, whose class is another. */
class OtherResponse {
  #isUsed = false
  get bodyUsed() {
    return this.#isUsed
  }
  get [Symbol.toStringTag]() {
    return 'Response'
  }
  arrayBuffer() {
    return Promise.resolve(Buffer.from(words))
  }
  text() {
    this.#isUsed = true
    return Promise.resolve(words)
  }
}
Object.defineProperty(OtherResponse, 'name', { value: 'Response' })

test.each<[string, () => { text: () => Promise<string> }]>([
  ['undici', () => new ResponseOfUndici(words)],
  ['node-fetch', () => new OtherResponse()],
])('an answer of %s is whole once it was read', async (_name, make) => {
  expect(takeSnapshot(make()).isCut).toBe(true)
  expect(takeSnapshot({ data: words, response: await answered(make()) }).isCut).toBe(false)
})
