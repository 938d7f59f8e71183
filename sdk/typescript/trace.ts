import { randomUUID } from 'node:crypto'
import { newId } from '../../schemas/ids.ts'
import type { RawRecord } from './call-record.ts'
import { boundedJson } from './capturing/body-json.ts'
import type { DeferredWork } from './capturing/defer-work.ts'
import { messageOf } from './capturing/message-of.ts'
import { cutMark, takeSnapshot, type Snapshot } from './capturing/plain-value.ts'
import { followResult } from './follow-result.ts'
import { sessionFields } from './session-fields.ts'
import { currentSession, runInSession } from './session.ts'
import type { Span, TracedCall } from './traced-call.ts'
import type { AnyFunction, Session, TraceOptions } from './types.ts'
import { unreadReporter, type Warn } from './warn.ts'

export interface TraceDependencies {
  session: () => Session
  maxBodyBytes: number
  record: (record: RawRecord) => void
  deferred: DeferredWork
  /** Called for a call that cannot be recorded. */
  lost: (detail: string) => void
  warn: Warn
}

/**
 * Wraps `traced` to record its arguments and its result or error. `this`, name and length stay. Generators
 * remain generators, although the function is now a plain one. Calls inside share its session; without one, a
 * session starts.
 */
export function traceFunction<F extends AnyFunction>(
  traced: F,
  options: TraceOptions,
  dependencies: TraceDependencies,
): F {
  const onDefect = unreadReporter(dependencies.warn)
  const name = options.name ?? (traced.name === '' ? 'anonymous' : traced.name)
  const wrapped = function (this: unknown, ...given: unknown[]): unknown {
    const session = sessionOf(options, dependencies)
    const span = spanOrNone({ name, model: options.model, session, given }, dependencies)
    const inside = insideOf(session)
    let result: unknown
    try {
      result = inside(() => traced.apply(this, given) as unknown)
    } catch (error) {
      span.fail(error)
      throw error
    }
    return followResult(result, { span, inside, onDefect })
  }
  Object.defineProperty(wrapped, 'name', { value: traced.name, configurable: true })
  Object.defineProperty(wrapped, 'length', { value: traced.length, configurable: true })
  return wrapped as F
}

/**
 * A separate function that holds neither `this` nor the arguments: they may refer to the result and prevent
 * its collection.
 */
function insideOf(session: Session): TracedCall['inside'] {
  return (work) => runInSession(session, work)
}

function sessionOf(options: TraceOptions, { session }: TraceDependencies): Session {
  const { sessionId, agentName, agentTag, userId, metadata } = options
  const around = runInSession({ sessionId, agentName, agentTag, userId, metadata }, () =>
    currentSession(session()),
  )
  return { ...around, sessionId: around.sessionId ?? `ses_${randomUUID()}` }
}

interface Begun {
  name: string
  model: string | undefined
  session: Session
  given: readonly unknown[]
}

/** A failed recording is counted as lost, and the call is not recorded. */
function spanOrNone(begun: Begun, dependencies: TraceDependencies): Span {
  try {
    return guardedSpan(beginSpan(begun, dependencies), dependencies.lost)
  } catch (error) {
    dependencies.lost(messageOf(error))
    return { end: () => undefined, fail: () => undefined }
  }
}

function guardedSpan(span: Span, lost: TraceDependencies['lost']): Span {
  const guarded = (work: () => void) => {
    try {
      work()
    } catch (error) {
      lost(messageOf(error))
    }
  }
  return {
    end: (output, atMs) => {
      guarded(() => {
        span.end(output, atMs)
      })
    },
    fail: (error, output) => {
      guarded(() => {
        span.fail(error, output)
      })
    },
  }
}

function beginSpan(
  { name, model, session, given }: Begun,
  { record, deferred, maxBodyBytes, warn }: TraceDependencies,
): Span {
  const id = newId('request')
  const startMs = performance.now()
  const taken = takeSnapshot(given)
  const request = { type: 'trace', function: name, arguments: taken.value, ...cutMark(taken) }
  const labels = sessionFields({ ...session, model }, warn)
  const jsonOf = (body: Record<string, unknown>) => boundedJson(JSON.stringify(body), maxBodyBytes)
  let isOver = false
  const write = (outcome: Pick<RawRecord, 'error'>, output?: () => Snapshot, atMs = performance.now()) => {
    // A generator can be stepped after its end.
    if (isOver) return
    isOver = true
    const result = output?.()
    const fields = {
      id,
      source: 'trace' as const,
      ...labels,
      latency_ms: atMs - startMs,
      ...outcome,
    }
    // oxlint-disable-next-line typescript/require-await -- what it throws is a rejection, which is counted
    deferred.run(async () => {
      const responseJson =
        result?.value === undefined ? undefined : jsonOf({ result: result.value, ...cutMark(result) })
      record({ ...fields, requestJson: jsonOf(request), responseJson })
    })
  }
  return {
    end: (output, atMs) => {
      write({}, output, atMs)
    },
    fail: (error, output) => {
      write({ error: messageOf(error) }, output)
    },
  }
}
