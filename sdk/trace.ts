import { randomUUID } from 'node:crypto'
import { newId } from '../schemas/ids.ts'
import type { RawRecord } from './call-record.ts'
import { boundedJson } from './capturing/body-json.ts'
import type { DeferredWork } from './capturing/defer-work.ts'
import { messageOf } from './capturing/message-of.ts'
import { plainValue } from './capturing/plain-value.ts'
import { createPlainYields } from './capturing/plain-yields.ts'
import { sessionFields } from './session-fields.ts'
import { currentSession, runInSession } from './session.ts'
import type { AnyFunction, Session, TraceOptions } from './types.ts'
import type { Warn } from './warn.ts'

export interface TraceDependencies {
  session: () => Session
  maxBodyBytes: number
  record: (record: RawRecord) => void
  deferred: DeferredWork
  /** Told of a call that cannot be recorded. */
  lost: (detail: string) => void
  warn: Warn
}

/**
 * `traced`, recorded: what went in, what came out or was thrown. It keeps its `this`, name and length. Generators,
 * sync and async, come back as such, though the function that makes them is now a plain one. What it calls shares its session; outside
 * of one, a session begins here.
 */
export function traceFunction<F extends AnyFunction>(
  traced: F,
  options: TraceOptions,
  dependencies: TraceDependencies,
): F {
  const name = options.name ?? (traced.name === '' ? 'anonymous' : traced.name)
  const wrapped = function (this: unknown, ...given: unknown[]): unknown {
    const session = sessionOf(options, dependencies)
    const span = spanOrNone({ name, model: options.model, session, given }, dependencies)
    const inside = <T>(work: () => T) => runInSession(session, work)
    let result: unknown
    try {
      result = inside(() => traced.apply(this, given) as unknown)
    } catch (error) {
      span.fail(error)
      throw error
    }
    return follow(result, span, inside)
  }
  Object.defineProperty(wrapped, 'name', { value: traced.name, configurable: true })
  Object.defineProperty(wrapped, 'length', { value: traced.length, configurable: true })
  return wrapped as F
}

function sessionOf(options: TraceOptions, { session }: TraceDependencies): Session {
  const { sessionId, agentName, agentTag, userId, metadata } = options
  const around = runInSession({ sessionId, agentName, agentTag, userId, metadata }, () =>
    currentSession(session()),
  )
  return { ...around, sessionId: around.sessionId ?? `ses_${randomUUID()}` }
}

/** `output` gives what came out, as JSON can hold it. */
interface Span {
  end(output: () => unknown): void
  fail(error: unknown, output?: () => unknown): void
}

interface Begun {
  name: string
  model: string | undefined
  session: Session
  given: readonly unknown[]
}

/** What goes wrong with the recording is counted as lost; the call is not recorded then. */
function spanOrNone(begun: Begun, dependencies: TraceDependencies): Span {
  const guarded = (work: () => void) => {
    try {
      work()
    } catch (error) {
      dependencies.lost(messageOf(error))
    }
  }
  let span: Span | undefined
  guarded(() => {
    span = beginSpan(begun, dependencies)
  })
  return {
    end: (output) => {
      guarded(() => span?.end(output))
    },
    fail: (error, output) => {
      guarded(() => span?.fail(error, output))
    },
  }
}

function beginSpan(
  { name, model, session, given }: Begun,
  { record, deferred, maxBodyBytes, warn }: TraceDependencies,
): Span {
  const id = newId('request')
  const startMs = performance.now()
  const request = { type: 'trace', function: name, arguments: plainValue(given) }
  const labels = sessionFields({ ...session, model }, warn)
  const jsonOf = (body: Record<string, unknown>) => boundedJson(JSON.stringify(body), maxBodyBytes)
  let isOver = false
  const write = (outcome: Pick<RawRecord, 'error'>, output?: () => unknown) => {
    // A generator can be stepped after its end.
    if (isOver) return
    isOver = true
    const result = output?.()
    const fields = {
      id,
      source: 'trace' as const,
      ...labels,
      latency_ms: performance.now() - startMs,
      ...outcome,
    }
    // oxlint-disable-next-line typescript/require-await -- what it throws is a rejection, which is counted
    deferred.run(async () => {
      const responseJson = result === undefined ? undefined : jsonOf({ result })
      record({ ...fields, requestJson: jsonOf(request), responseJson })
    })
  }
  return {
    end: (output) => {
      write({}, output)
    },
    fail: (error, output) => {
      write({ error: messageOf(error) }, output)
    },
  }
}

type Inside = <T>(work: () => T) => T

/** The result as it was; recorded when it is there, for promises and generators when they end. */
function follow(result: unknown, span: Span, inside: Inside): unknown {
  if (isGenerator(result)) return followGenerator(result, span, inside)
  if (!isPlainPromise(result)) {
    // Whatever else can be awaited may do its work only then, and each time: it is left alone.
    span.end(() => plainValue(result))
    return result
  }
  // The derived promise goes to the program: the rejection of one that is heard besides would count as handled.
  return result.then(
    (value) => {
      span.end(() => plainValue(value))
      return value
    },
    (error: unknown) => {
      span.fail(error)
      throw error
    },
  )
}

/** No subclass, and nothing hung on it: what `then` makes of it is as good. */
function isPlainPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise && value.constructor === Promise && Object.keys(value).length === 0
}

type AnyGenerator = Generator | AsyncGenerator

function isGenerator(value: unknown): value is AnyGenerator {
  const kind = Object.prototype.toString.call(value)
  return kind === '[object Generator]' || kind === '[object AsyncGenerator]'
}

/** The same generator, its steps heard: recorded once, when it returns, throws or is left. */
function followGenerator(generator: AnyGenerator, span: Span, inside: Inside): AnyGenerator {
  const yields = createPlainYields()
  const hear = (step: IteratorResult<unknown>) => {
    if (step.done === true) {
      const returned = step.value === undefined ? {} : { returned: plainValue(step.value) }
      span.end(() => ({ yielded: yields.list(), ...returned }))
    } else yields.add(step.value)
    return step
  }
  const heard = (work: () => IteratorResult<unknown> | Promise<IteratorResult<unknown>>) => {
    const fail = (error: unknown): never => {
      span.fail(error, () => ({ yielded: yields.list() }))
      throw error
    }
    try {
      const step = inside(work)
      return step instanceof Promise ? step.then(hear, fail) : hear(step)
    } catch (error) {
      return fail(error)
    }
  }
  const steps: Record<string, (value: unknown) => unknown> = {
    next: (value) => heard(() => (generator as Generator).next(value)),
    return: (value) => heard(() => (generator as Generator).return(value)),
    throw: (error) => heard(() => (generator as Generator).throw(error)),
  }
  const heardGenerator: AnyGenerator = new Proxy(generator, {
    get(target, property) {
      if (typeof property === 'string' && Object.hasOwn(steps, property)) return steps[property]
      const value: unknown = Reflect.get(target, property, target)
      // The proxy is what is iterated, or its steps would not be heard.
      if (property === Symbol.iterator || property === Symbol.asyncIterator) return () => heardGenerator
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  return heardGenerator
}
