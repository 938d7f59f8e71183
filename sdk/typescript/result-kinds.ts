import { types } from 'node:util'

/**
 * Results of traced functions that are followed. A proxy or getter may throw; such a value is none of these.
 */

export type AnyGenerator = Generator | AsyncGenerator

/** A stream of a provider's client, which always reads it through `iterator`. */
export interface ProviderStream {
  iterator: () => AnyGenerator
}

/** No subclass and no extra properties: the result of `then` can replace it. */
export function isPlainPromise(value: unknown): value is Promise<unknown> {
  // A proxy of a promise is excluded, as its `then` throws.
  return answers(() => types.isPromise(value) && isOfPromise(value) && Object.keys(value).length === 0)
}

/** A promise of its own class that can be extended. */
export function isOwnPromise(value: unknown): value is Promise<unknown> {
  return answers(() => value instanceof Promise && !isOfPromise(value) && Object.isExtensible(value))
}

function isOfPromise(promise: Promise<unknown>): boolean {
  return promise.constructor === Promise
}

/** The streams of providers' clients. */
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

/** Includes generators that are already followed. */
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
