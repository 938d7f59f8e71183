import { types } from 'node:util'

/** What a traced function may return that is followed. A proxy or a getter of the program's may throw at each question: what does is none of these. */

export type AnyGenerator = Generator | AsyncGenerator

/** What clients of providers make of a stream: iterated by its `iterator`, in whichever way the program reads it. */
export interface ProviderStream {
  iterator: () => AnyGenerator
}

/** No subclass, and nothing hung on it: what `then` makes of it is as good. */
export function isPlainPromise(value: unknown): value is Promise<unknown> {
  // A proxy of one is none: its `then` throws.
  return answers(() => types.isPromise(value) && isOfPromise(value) && Object.keys(value).length === 0)
}

/** Of a class of its own, and open to being heard. */
export function isOwnPromise(value: unknown): value is Promise<unknown> {
  return answers(() => value instanceof Promise && !isOfPromise(value) && Object.isExtensible(value))
}

function isOfPromise(promise: Promise<unknown>): boolean {
  return promise.constructor === Promise
}

/** What clients of providers stream with. */
export function isProviderStream(value: unknown): value is ProviderStream {
  return answers(
    () =>
      typeof value === 'object' &&
      value !== null &&
      Symbol.asyncIterator in value &&
      typeof Object.getOwnPropertyDescriptor(value, 'iterator')?.value === 'function' &&
      'tee' in value,
  )
}

/** Also one that is followed already. */
export function isGenerator(value: unknown): value is AnyGenerator {
  return answers(() => {
    const kind = Object.prototype.toString.call(value)
    return kind === '[object Generator]' || kind === '[object AsyncGenerator]'
  })
}

function answers(question: () => boolean): boolean {
  try {
    return question()
  } catch {
    return false
  }
}
