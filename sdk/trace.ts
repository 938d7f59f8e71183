import { randomUUID } from 'node:crypto'
import { newId } from '../schemas/ids.ts'
import type { RawRecord } from './call-record.ts'
import { boundedJson } from './capturing/body-json.ts'
import { plainValue } from './capturing/plain-value.ts'
import { messageOf } from './capturing/record-fetch.ts'
import { currentSession, runInSession, sessionFields } from './session.ts'
import type { AnyFunction, Session, TraceOptions } from './types.ts'
import type { Warn } from './warn.ts'

export interface TraceDependencies {
  session: () => Session
  maxBodyBytes: number
  record: (record: RawRecord) => void
  warn: Warn
}

/** Values of a generator that are kept; it may yield for ever. */
const maxYields = 1_000

/**
 * `traced`, recorded: what went in, what came out or was thrown. Functions, async functions, generators and async generators keep
 * their `this`, name, length and kind. What it calls shares its session; outside of one, a session begins here.
 */
export function traceFunction<F extends AnyFunction>(
  traced: F,
  options: TraceOptions,
  dependencies: TraceDependencies,
): F {
  const name = options.name ?? (traced.name === '' ? 'anonymous' : traced.name)
  const wrapped = function (this: unknown, ...given: unknown[]): unknown {
    const session = sessionOf(options, dependencies)
    const span = beginSpan({ name, model: options.model, session, given }, dependencies)
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

interface Span {
  end(output: unknown): void
  fail(error: unknown, output?: unknown): void
}

interface Begun {
  name: string
  model: string | undefined
  session: Session
  given: readonly unknown[]
}

function beginSpan(
  { name, model, session, given }: Begun,
  { record, maxBodyBytes, warn }: TraceDependencies,
): Span {
  const id = newId('request')
  const startMs = performance.now()
  const jsonOf = (body: Record<string, unknown>) => boundedJson(JSON.stringify(body), maxBodyBytes)
  const requestJson = jsonOf({ type: 'trace', function: name, arguments: plainValue(given) })
  const write = (fields: Pick<RawRecord, 'error'>, output: unknown) => {
    const responseJson = output === undefined ? undefined : jsonOf({ result: plainValue(output) })
    record({
      id,
      source: 'trace',
      ...sessionFields(session),
      ...(model === undefined ? {} : { model }),
      latency_ms: performance.now() - startMs,
      ...fields,
      requestJson,
      responseJson,
    })
  }
  const guarded = (work: () => void) => {
    try {
      work()
    } catch (error) {
      warn('capture', `a traced call could not be recorded: ${messageOf(error)}`)
    }
  }
  return {
    end: (output) => {
      guarded(() => {
        write({}, output)
      })
    },
    fail: (error, output) => {
      guarded(() => {
        write({ error: messageOf(error) }, output)
      })
    },
  }
}

type Inside = <T>(work: () => T) => T

/** The result as it was; recorded when it is there, for promises and generators when they end. */
function follow(result: unknown, span: Span, inside: Inside): unknown {
  if (isGenerator(result)) return followGenerator(result, span, inside)
  if (!(result instanceof Promise)) {
    // Whatever else can be awaited may do its work only then, and each time: it is left alone.
    span.end(result)
    return result
  }
  result.then(
    (value) => {
      span.end(value)
    },
    (error: unknown) => {
      span.fail(error)
    },
  )
  return result
}

type AnyGenerator = Generator | AsyncGenerator

function isGenerator(value: unknown): value is AnyGenerator {
  const kind = Object.prototype.toString.call(value)
  return kind === '[object Generator]' || kind === '[object AsyncGenerator]'
}

/** The same generator, its steps heard: recorded once, when it returns, throws or is left. */
function followGenerator(generator: AnyGenerator, span: Span, inside: Inside): AnyGenerator {
  const yielded: unknown[] = []
  const hear = (step: IteratorResult<unknown>) => {
    if (step.done === true) {
      const returned = step.value === undefined ? {} : { returned: step.value as unknown }
      span.end({ yielded, ...returned })
    } else if (yielded.length < maxYields) yielded.push(plainValue(step.value))
    return step
  }
  const heard = (work: () => IteratorResult<unknown> | Promise<IteratorResult<unknown>>) => {
    const fail = (error: unknown): never => {
      span.fail(error, { yielded })
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
