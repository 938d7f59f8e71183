import { errorOfAnswer } from '../../../capture/answer-error.ts'
import { billedPartsOf, joinParts } from '../../../capture/billed-parts.ts'
import { recordableUsage } from '../../../capture/call-cost.ts'
import { fieldAt, textOf } from '../../../capture/json.ts'
import { createArrivals, type Arrivals } from '../../../capture/streams/arrivals.ts'
import { streamTextFactor } from '../../../capture/streams/assemble-stream.ts'
import { isEventStream } from '../../../capture/streams/stream-types.ts'
import { inferenceGeoOf, serviceTierOf } from '../../../capture/service-tier.ts'
import { statedCostOf } from '../../../capture/stated-cost.ts'
import { newId } from '../../../schemas/ids.ts'
import type { RawRecord } from '../call-record.ts'
import { sessionFields } from '../session-fields.ts'
import type { Session } from '../types.ts'
import { unreadReporter, type Warn } from '../warn.ts'
import { bodyJson, type AnswerKind, type BodyJson } from './body-json.ts'
import type { ByteBudget } from './byte-budget.ts'
import type { DeferredWork } from './defer-work.ts'
import { createKeptBody, type KeptBody } from './kept-body.ts'
import { messageOf } from './message-of.ts'
import { modelCallOf, type Dialect, type ModelCall } from './model-calls.ts'
import { canBeObserved, observeResponse, type BodyObserver } from './observe-response.ts'
import { sharedId } from './shared-id.ts'

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

export interface RecordFetchDependencies {
  budget: ByteBudget
  maxBodyBytes: number
  session: () => Session
  /** Called once per call, after the caller has its answer. */
  record: (record: RawRecord) => void
  deferred: DeferredWork
  /** Called for a call that cannot be recorded. */
  lost: (detail: string) => void
  warn: Warn
}

/**
 * Records each HTTP attempt of `inner` to a model, with the bytes of both bodies. The client's results,
 * errors and streams stay the same; a recording failure only causes a warning.
 */
export function recordFetch(inner: Fetch, dependencies: RecordFetchDependencies, dialect?: Dialect): Fetch {
  const guarded = <T>(work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      dependencies.lost(messageOf(error))
      return undefined
    }
  }
  return async (input, init) => {
    const attempt = guarded(() => beginAttempt(input, init, dependencies, dialect))
    // Some fetch implementations reject being called as a method.
    if (attempt === undefined) return inner.call(undefined, input, init)
    let response: Response
    try {
      response = await inner.call(undefined, input, init)
    } catch (error) {
      guarded(() => {
        attempt.fail(error)
      })
      throw error
    }
    return guarded(() => attempt.answered(response)) ?? response
  }
}

function urlOf(input: string | URL | Request): string {
  return input instanceof Request ? input.url : input.toString()
}

interface Attempt {
  answered(response: Response): Response
  fail(error: unknown): void
}

function beginAttempt(
  input: string | URL | Request,
  init: RequestInit | undefined,
  dependencies: RecordFetchDependencies,
  dialect: Dialect,
): Attempt | undefined {
  const request = input instanceof Request ? input : undefined
  if ((init?.method ?? request?.method)?.toUpperCase() !== 'POST') return undefined
  const call = modelCallOf(urlOf(input), dialect)
  if (call === undefined) return undefined
  const given = init?.body
  const body = typeof given === 'string' ? given : request?.clone().text()
  // It rejects again when the record is built, which reports it.
  if (body instanceof Promise) body.catch(() => undefined)
  // Forms and streams are file uploads, not model calls.
  if (body === undefined || (given != null && typeof given !== 'string')) return undefined
  const signal = init?.signal ?? request?.signal
  return createAttempt({ call, body, isAborted: () => signal?.aborted === true }, dependencies)
}

interface Begun {
  call: ModelCall
  body: string | Promise<string>
  isAborted: () => boolean
}

function createAttempt({ call, body, isAborted }: Begun, dependencies: RecordFetchDependencies): Attempt {
  const { budget, maxBodyBytes, session, record, deferred, warn } = dependencies
  const startMs = performance.now()
  const id = newId('request')
  const labels = sessionFields(session(), warn)
  let answer: KeptBody | undefined
  let response: Response | undefined
  const arrivals = createArrivals()
  let isOver = false

  const finish = (end: Pick<RawRecord, 'error' | 'aborted_by'> = {}) => {
    if (isOver) return
    isOver = true
    const endMs = performance.now()
    const fields = {
      id: sharedId(id, response?.headers, warn),
      source: 'sdk' as const,
      ...labels,
      ...known({ provider: call.provider }),
      latency_ms: endMs - startMs,
      ...(response === undefined ? {} : { status_code: response.status }),
    }
    deferred.run(async () => {
      // First and in any case, as the answer may hold the whole budget.
      const answered =
        answer === undefined || answer.byteLength() === 0
          ? undefined
          : released(answer, maxBodyBytes, kindOfAnswer(response, warn))
      const requestJson = requestBodyJson(await body, maxBodyBytes, budget)
      // Clients may stop reading right after the end mark: that is no abort.
      const outcome = answered?.streamEnded === true ? {} : end
      const said = { ...firstToken(answered, arrivals), ...saidBy(answered, call, response?.status) }
      record({ ...fields, ...said, ...outcome, requestJson, responseJson: answered?.json })
    })
  }
  const fail = (error: unknown) => {
    finish({ error: messageOf(error), aborted_by: isAborted() ? 'client' : 'upstream' })
  }
  const observer: BodyObserver = {
    chunk(bytes) {
      arrivals.add(bytes.byteLength, performance.now() - startMs)
      answer ??= createKeptBody(keptBytesOf(response, maxBodyBytes), budget)
      answer.add(bytes)
    },
    end: finish,
    fail,
    abandon: () => {
      // Clients do not read answers that they retry.
      finish(response?.ok === true ? { aborted_by: 'client' } : {})
    },
  }
  return {
    fail,
    answered(given) {
      response = given
      if (canBeObserved(given)) return observeResponse(given, observer)
      warn('unheard', 'answers of a custom fetch are recorded without their bodies')
      finish()
      return given
    },
  }
}

function firstToken(answered: BodyJson | undefined, arrivals: Arrivals) {
  const wordsEnd = answered?.firstWordsEnd
  return known({ time_to_first_token_ms: wordsEnd === undefined ? undefined : arrivals.timeOf(wordsEnd) })
}

/** Record fields that depend on the answer; ingest derives the others. */
function saidBy(answered: BodyJson | undefined, { model }: ModelCall, status: number | undefined) {
  const answer = answered?.value
  const error = errorOfAnswer(answer, status) ?? undefined
  // The answer's model is more exact than the path's.
  const named = known({ error, model: textOf(fieldAt(answer, 'model')) === undefined ? model : undefined })
  return answered?.isCut === true ? { ...named, ...tokensOf(answer) } : named
}

/** What ingest would derive from a complete answer. */
function tokensOf(answer: unknown) {
  const usage = recordableUsage(answer)
  return known({
    prompt_tokens: usage.promptTokens ?? undefined,
    cached_tokens: usage.cachedTokens ?? undefined,
    cache_write_tokens: usage.writtenTokens || undefined,
    cache_write_1h_tokens: usage.writtenHourTokens || undefined,
    completion_tokens: usage.completionTokens ?? undefined,
    reasoning_tokens: usage.reasoningTokens ?? undefined,
    service_tier: storable(serviceTierOf(answer)),
    inference_geo: storable(inferenceGeoOf(answer)),
    billed_parts: joinParts(billedPartsOf(undefined, answer)),
    cost_usd: statedCostOf(answer) ?? undefined,
  })
}

/** Ingest would reject the record for text that it cannot store. */
function storable(text: string | null): string | undefined {
  return text?.replace(/[^\w.-]/g, '').slice(0, 64) || undefined
}

function requestBodyJson(text: string, maxBytes: number, budget: ByteBudget): string {
  const kept = createKeptBody(maxBytes, budget)
  kept.add(Buffer.from(text))
  return released(kept, maxBytes).json
}

/** A stream may be longer, as only its message must fit. */
function keptBytesOf(response: Response | undefined, maxBodyBytes: number): number {
  return isEventStream(contentTypeOf(response)) ? maxBodyBytes * streamTextFactor : maxBodyBytes
}

function released(kept: KeptBody, maxBytes: number, answer?: AnswerKind): BodyJson {
  try {
    return bodyJson(kept.read(), maxBytes, answer)
  } finally {
    kept.release()
  }
}

function kindOfAnswer(response: Response | undefined, warn: Warn): AnswerKind {
  return { contentType: contentTypeOf(response), onDefect: unreadReporter(warn) }
}

function contentTypeOf(response: Response | undefined): string {
  return response?.headers.get('content-type') ?? ''
}

function known<V extends string | number | object, T extends Readonly<Record<string, V | undefined>>>(
  fields: T,
): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>
  }
}
