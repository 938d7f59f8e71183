import { takeValue, type TakenValue } from './capturing/plain-value.ts'
import { createPlainYields, type PlainYields } from './capturing/plain-yields.ts'
import {
  isGenerator,
  isOwnPromise,
  isPlainPromise,
  isProviderStream,
  type AnyGenerator,
} from './result-kinds.ts'
import {
  asOneCall,
  neverRead,
  waitWithOthers,
  whenDropped,
  type Span,
  type TracedCall,
} from './traced-call.ts'

/**
 * Returns the result and records it when it is complete: promises, generators and providers' streams at their
 * end.
 */
export function followResult(result: unknown, call: TracedCall): unknown {
  // The program gets the derived promise: observing the original would mark its rejection as handled.
  if (isPlainPromise(result)) {
    return hear(result, {
      came: (value) => followValue(value, call),
      failed: (error) => {
        call.span.fail(error)
      },
    })
  }
  if (!isOwnPromise(result)) return followValue(result, call)
  waitWithOthers(result, call, (take) => {
    hearOwnPromise(result, take)
  })
  return result
}

/** Other thenables are left alone, as awaiting may start their work, each time. */
function followValue(value: unknown, call: TracedCall): unknown {
  if (isGenerator(value)) return followGenerator(value, call)
  if (isProviderStream(value)) {
    waitWithOthers(value, call, (take) => {
      const iterate = value.iterator.bind(value)
      // A frozen stream stays unobserved.
      Reflect.set(value, 'iterator', () => followGenerator(iterate(), asOneCall(take()), true))
    })
  } else call.span.end(() => takeValue(value))
  return value
}

interface Hearing {
  /** Returns what the program receives. */
  came: (value: unknown) => unknown
  failed: (error: unknown) => void
}

function hear(promise: Promise<unknown>, { came, failed }: Hearing): Promise<unknown> {
  return promise.then(came, (error: unknown) => {
    failed(error)
    throw error
  })
}

/** Other methods that resolve such a promise of a provider's client. */
const otherWays = ['asResponse', 'withResponse', 'withRawResponse'] as const
type OwnPromise = Promise<unknown> & Partial<Record<(typeof otherWays)[number], () => unknown>>
type Handler = ((value: unknown) => unknown) | null | undefined
type Then = (done: Handler, caught: Handler) => Promise<unknown>

/**
 * Observes a promise of a provider's own class when the program asks for its value: awaiting may start its
 * work, or read an answer that the program wants raw.
 */
function hearOwnPromise(promise: OwnPromise, take: () => TracedCall[]): void {
  const { asks, came, failed } = createAsked(take)
  const original: Then = promise.then.bind(promise)
  const then: Then = (done, caught) => {
    asks()
    return original(
      (value) => (typeof done === 'function' ? done(came(value)) : came(value)),
      (error) => {
        failed(error)
        if (typeof caught === 'function') return caught(error)
        throw error
      },
    )
  }
  const ways: Record<string, unknown> = {
    then,
    catch: (caught: Handler) => then(undefined, caught),
    finally: (last: () => void) => then(undefined, undefined).finally(last),
  }
  // One method may call another; the one that the program called counts.
  let isInside = false
  for (const name of otherWays) {
    const way = promise[name]?.bind(promise)
    if (way === undefined) continue
    ways[name] = () => {
      if (isInside) return way()
      asks()
      isInside = true
      try {
        const asked = way()
        return isPlainPromise(asked) ? hear(asked, { came, failed }) : asked
      } finally {
        isInside = false
      }
    }
  }
  for (const [name, value] of Object.entries(ways))
    Reflect.defineProperty(promise, name, { value, configurable: true, writable: true })
}

/**
 * The calls that a promise is awaited for. The first value is recorded, and returned again for later
 * requests.
 */
function createAsked(take: () => TracedCall[]): Hearing & { asks: () => void } {
  const asked: TracedCall[] = []
  const known = { value: undefined as unknown, given: undefined as unknown }
  return {
    asks() {
      for (const call of take()) asked.push(call)
    },
    came(value) {
      const calls = asked.splice(0)
      if (calls.length > 0) Object.assign(known, { value, given: followValue(value, asOneCall(calls)) })
      return value === known.value ? known.given : value
    },
    failed(error) {
      asOneCall(asked.splice(0)).span.fail(error)
    },
  }
}

/** The same generator with observed steps: recorded once, when it returns, throws, is closed or dropped. */
function followGenerator(
  generator: AnyGenerator,
  { span, inside, onDefect }: TracedCall,
  ofClient = false,
): AnyGenerator {
  const steps = createSteps(span, createPlainYields(onDefect, ofClient))
  // Its methods and any pending step hold the generator, so it is collected only when no more steps can
  // follow.
  whenDropped(generator, steps.dropped)
  const heard = (work: () => IteratorResult<unknown> | Promise<IteratorResult<unknown>>) => {
    const failed = (error: unknown): never => {
      steps.failed(error)
      throw error
    }
    try {
      const step = inside(work)
      return step instanceof Promise ? step.then(steps.came, failed) : steps.came(step)
    } catch (error) {
      return failed(error)
    }
  }
  const ways: Record<string, (value: unknown) => unknown> = {
    next: (value) => heard(() => (generator as Generator).next(value)),
    return: (value) => heard(() => (generator as Generator).return(value)),
    throw: (error) => heard(() => (generator as Generator).throw(error)),
  }
  const heardGenerator: AnyGenerator = new Proxy(generator, {
    get(target, property) {
      // A proxy must return these values unchanged.
      const own = Reflect.getOwnPropertyDescriptor(target, property)
      if (own?.configurable === false && own.writable === false) return own.value as unknown
      if (typeof property === 'string' && Object.hasOwn(ways, property)) return ways[property]
      const value: unknown = Reflect.get(target, property, target)
      // Iterate the proxy, so that the steps are observed.
      if (property === Symbol.iterator || property === Symbol.asyncIterator) return () => heardGenerator
      // Inherited iterator helpers run on the proxy, as `using` rejects bound ones; own methods need the
      // object itself.
      if (typeof value !== 'function' || isInherited(property, value)) return value
      return value.bind(target) as unknown
    },
  })
  return heardGenerator
}

async function* noSteps(): AsyncGenerator<never> {}

/** Prototypes of the iterator helpers, sync and async. */
const iteratorPrototypes = [[].values(), noSteps.prototype].map(
  (one: object) => Object.getPrototypeOf(Object.getPrototypeOf(one)) as object,
)

function isInherited(property: PropertyKey, method: unknown): boolean {
  return iteratorPrototypes.some(
    (prototype) => Object.getOwnPropertyDescriptor(prototype, property)?.value === method,
  )
}

interface Steps {
  came: (step: IteratorResult<unknown>) => IteratorResult<unknown>
  failed: (error: unknown) => void
  dropped: () => void
}

/** Reports a generator by its steps. Holds no reference to it, which would prevent its collection. */
function createSteps(span: Span, yields: PlainYields): Steps {
  let lastMs = performance.now()
  const yielded = (returned?: TakenValue): TakenValue => {
    const { value, isCut } = yields.taken()
    if (returned === undefined) return { value: { yielded: value }, isCut }
    return { value: { yielded: value, returned: returned.value }, isCut: isCut || returned.isCut }
  }
  return {
    came(step) {
      lastMs = performance.now()
      if (step.done === true) {
        const returned = step.value === undefined ? undefined : takeValue(step.value)
        span.end(() => yielded(returned))
      } else yields.add(step.value)
      return step
    },
    failed(error) {
      span.fail(error, () => yielded())
    },
    dropped() {
      // The program has read all that it wanted.
      span.end(() => yielded({ value: neverRead, isCut: false }), lastMs)
    },
  }
}
