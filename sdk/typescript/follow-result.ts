import { takeSnapshot, type Snapshot } from './capturing/plain-value.ts'
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
    return observe(result, {
      onValue: (value) => followValue(value, call),
      onError: (error) => {
        call.span.fail(error)
      },
    })
  }
  if (!isOwnPromise(result)) return followValue(result, call)
  waitWithOthers(result, call, (take) => {
    observeOwnPromise(result, take)
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
  } else call.span.end(() => takeSnapshot(value))
  return value
}

interface Observer {
  /** Returns what the program receives. */
  onValue: (value: unknown) => unknown
  onError: (error: unknown) => void
}

function observe(promise: Promise<unknown>, { onValue, onError }: Observer): Promise<unknown> {
  return promise.then(onValue, (error: unknown) => {
    onError(error)
    throw error
  })
}

/** Other methods that resolve such a promise of a provider's client. */
const otherMethods = ['asResponse', 'withResponse', 'withRawResponse'] as const
type OwnPromise = Promise<unknown> & Partial<Record<(typeof otherMethods)[number], () => unknown>>
type Handler = ((value: unknown) => unknown) | null | undefined
type Then = (done: Handler, caught: Handler) => Promise<unknown>

/**
 * Observes a promise of a provider's own class when the program asks for its value: awaiting may start its
 * work, or read an answer that the program wants raw.
 */
function observeOwnPromise(promise: OwnPromise, take: () => TracedCall[]): void {
  const { onAwait, onValue, onError } = createAsked(take)
  const original: Then = promise.then.bind(promise)
  const then: Then = (done, caught) => {
    onAwait()
    return original(
      (value) => (typeof done === 'function' ? done(onValue(value)) : onValue(value)),
      (error) => {
        onError(error)
        if (typeof caught === 'function') return caught(error)
        throw error
      },
    )
  }
  const methods: Record<string, unknown> = {
    then,
    catch: (caught: Handler) => then(undefined, caught),
    finally: (last: () => void) => then(undefined, undefined).finally(last),
  }
  // One method may call another; the one that the program called counts.
  let isInside = false
  for (const name of otherMethods) {
    const way = promise[name]?.bind(promise)
    if (way === undefined) continue
    methods[name] = () => {
      if (isInside) return way()
      onAwait()
      isInside = true
      try {
        const asked = way()
        return isPlainPromise(asked) ? observe(asked, { onValue, onError }) : asked
      } finally {
        isInside = false
      }
    }
  }
  for (const [name, value] of Object.entries(methods))
    Reflect.defineProperty(promise, name, { value, configurable: true, writable: true })
}

/**
 * The calls that a promise is awaited for. The first value is recorded, and returned again for later
 * requests.
 */
function createAsked(take: () => TracedCall[]): Observer & { onAwait: () => void } {
  const asked: TracedCall[] = []
  const known = { value: undefined as unknown, given: undefined as unknown }
  return {
    onAwait() {
      for (const call of take()) asked.push(call)
    },
    onValue(value) {
      const calls = asked.splice(0)
      if (calls.length > 0) Object.assign(known, { value, given: followValue(value, asOneCall(calls)) })
      return value === known.value ? known.given : value
    },
    onError(error) {
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
  const observed = (work: () => IteratorResult<unknown> | Promise<IteratorResult<unknown>>) => {
    const onError = (error: unknown): never => {
      steps.onError(error)
      throw error
    }
    try {
      const step = inside(work)
      return step instanceof Promise ? step.then(steps.onValue, onError) : steps.onValue(step)
    } catch (error) {
      return onError(error)
    }
  }
  const methods: Record<string, (value: unknown) => unknown> = {
    next: (value) => observed(() => (generator as Generator).next(value)),
    return: (value) => observed(() => (generator as Generator).return(value)),
    throw: (error) => observed(() => (generator as Generator).throw(error)),
  }
  const observedGenerator: AnyGenerator = new Proxy(generator, {
    get(target, property) {
      // A proxy must return these values unchanged.
      const own = Reflect.getOwnPropertyDescriptor(target, property)
      if (own?.configurable === false && own.writable === false) return own.value as unknown
      if (typeof property === 'string' && Object.hasOwn(methods, property)) return methods[property]
      const value: unknown = Reflect.get(target, property, target)
      // Iterate the proxy, so that the steps are observed.
      if (property === Symbol.iterator || property === Symbol.asyncIterator) return () => observedGenerator
      // Inherited iterator helpers run on the proxy, as `using` rejects bound ones; own methods need the
      // object itself.
      if (typeof value !== 'function' || isInherited(property, value)) return value
      return value.bind(target) as unknown
    },
  })
  return observedGenerator
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
  onValue: (step: IteratorResult<unknown>) => IteratorResult<unknown>
  onError: (error: unknown) => void
  dropped: () => void
}

/** Reports a generator by its steps. Holds no reference to it, which would prevent its collection. */
function createSteps(span: Span, yields: PlainYields): Steps {
  let lastMs = performance.now()
  const yielded = (returned?: Snapshot): Snapshot => {
    const { value, isCut } = yields.taken()
    if (returned === undefined) return { value: { yielded: value }, isCut }
    return { value: { yielded: value, returned: returned.value }, isCut: isCut || returned.isCut }
  }
  return {
    onValue(step) {
      lastMs = performance.now()
      if (step.done === true) {
        const returned = step.value === undefined ? undefined : takeSnapshot(step.value)
        span.end(() => yielded(returned))
      } else yields.add(step.value)
      return step
    },
    onError(error) {
      span.fail(error, () => yielded())
    },
    dropped() {
      // The program has read all that it wanted.
      span.end(() => yielded({ value: neverRead, isCut: false }), lastMs)
    },
  }
}
