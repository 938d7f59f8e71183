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

/** The result as it was; recorded when it is there, for promises, generators and providers' streams when they end. */
export function followResult(result: unknown, call: TracedCall): unknown {
  // The derived promise goes to the program: the rejection of one that is heard besides would count as handled.
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

/** What can be awaited and is no promise may do its work only then, and each time: it is left alone. */
function followValue(value: unknown, call: TracedCall): unknown {
  if (isGenerator(value)) return followGenerator(value, call)
  if (isProviderStream(value)) {
    waitWithOthers(value, call, (take) => {
      const iterate = value.iterator.bind(value)
      // One that is frozen stays as it is.
      Reflect.set(value, 'iterator', () => followGenerator(iterate(), asOneCall(take()), true))
    })
  } else call.span.end(() => takeValue(value))
  return value
}

interface Hearing {
  /** Gives what the program gets. */
  came: (value: unknown) => unknown
  failed: (error: unknown) => void
}

function hear(promise: Promise<unknown>, { came, failed }: Hearing): Promise<unknown> {
  return promise.then(came, (error: unknown) => {
    failed(error)
    throw error
  })
}

/** The other ways to what such promises of providers' clients hold. */
const otherWays = ['asResponse', 'withResponse', 'withRawResponse'] as const
type OwnPromise = Promise<unknown> & Partial<Record<(typeof otherWays)[number], () => unknown>>
type Handler = ((value: unknown) => unknown) | null | undefined
type Then = (done: Handler, caught: Handler) => Promise<unknown>

/**
 * Hears a promise of a class of its own, as clients of providers return: awaiting one may start its work, or read an answer that the program
 * wants raw. So it stays what it is, and is heard when the program asks it for what it holds.
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
  // One may go by another, and what the program asked for is what counts.
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

/** The calls that a promise is asked for. What comes first is recorded, and given again to whoever asks again. */
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

/** The same generator, its steps heard: recorded once, when it returns, throws, is left or dropped. */
function followGenerator(
  generator: AnyGenerator,
  { span, inside, onDefect }: TracedCall,
  ofClient = false,
): AnyGenerator {
  const steps = createSteps(span, createPlainYields(onDefect, ofClient))
  // What takes its steps holds it, and so does a step that is under way: it alone tells when none can be taken any more.
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
      // A proxy that gave anything else of these would throw.
      const own = Reflect.getOwnPropertyDescriptor(target, property)
      if (own?.configurable === false && own.writable === false) return own.value as unknown
      if (typeof property === 'string' && Object.hasOwn(ways, property)) return ways[property]
      const value: unknown = Reflect.get(target, property, target)
      // The proxy is what is iterated, or its steps would not be heard.
      if (property === Symbol.iterator || property === Symbol.asyncIterator) return () => heardGenerator
      // What iterators have from the platform runs on the proxy, and `using` refuses one that is bound; a method of its own needs the object itself.
      if (typeof value !== 'function' || isInherited(property, value)) return value
      return value.bind(target) as unknown
    },
  })
  return heardGenerator
}

async function* noSteps(): AsyncGenerator<never> {}

/** What iterators have their helpers from, sync and async. */
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

/** Tells of a generator by its steps. It does not know the generator, which would be held, and never found to be dropped. */
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
      // The program has had all that there was.
      span.end(() => yielded({ value: neverRead, isCut: false }), lastMs)
    },
  }
}
