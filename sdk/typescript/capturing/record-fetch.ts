import { errorOfAnswer } from '../../../capture/answer-error.ts'
import { billedPartsOf, joinParts } from '../../../capture/billed-parts.ts'
import { recordableUsage } from '../../../capture/call-cost.ts'
import { fieldAt, textOf } from '../../../capture/json.ts'
import { inferenceGeoOf, serviceTierOf } from '../../../capture/service-tier.ts'
import { statedCostOf } from '../../../capture/stated-cost.ts'
import { newId } from '../../../schemas/ids.ts'
import type { RawRecord } from '../call-record.ts'
import { sessionFields } from '../session-fields.ts'
import type { Session } from '../types.ts'
import type { Warn } from '../warn.ts'
import { bodyJson, type BodyJson } from './body-json.ts'
import type { ByteBudget } from './byte-budget.ts'
import type { DeferredWork } from './defer-work.ts'
import { createKeptBody } from './kept-body.ts'
import { bodyTextOf, requestIn, urlOf, type Fetch, type FetchInput } from './fetch-request.ts'
import { messageOf } from './message-of.ts'
import { isModelCall, modelCallOf, type Dialect, type ModelCall } from '../../../capture/model-calls.ts'
import { canBeObserved, observeResponse, type BodyObserver } from './observe-response.ts'
import { createPassingAnswer, type PassingAnswer } from './passing-answer.ts'
import { isRecordedAround, sendRecorded, type RunningCall } from './running-call.ts'
import { sharedId } from './shared-id.ts'

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
  const guarded = guardedBy(dependencies.lost)
  return async (input, init) => {
    const attempt = guarded(() => beginAttempt(input, init, dependencies, dialect))
    // Some fetch implementations reject being called as a method.
    if (attempt === undefined) return inner.call(undefined, input, init)
    let response: Response
    try {
      response = await sendRecorded(attempt.call, inner, () => inner.call(undefined, input, init))
    } catch (error) {
      guarded(() => {
        attempt.fail(error)
      })
      throw error
    }
    return guarded(() => attempt.answered(response)) ?? response
  }
}

/** Runs what must never fail the program's call. */
function guardedBy(lost: (detail: string) => void) {
  return <T>(work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      lost(messageOf(error))
      return undefined
    }
  }
}

interface Attempt {
  call: RunningCall
  answered(response: Response): Response
  fail(error: unknown): void
}

function beginAttempt(
  input: FetchInput,
  init: RequestInit | undefined,
  dependencies: RecordFetchDependencies,
  dialect: Dialect,
): Attempt | undefined {
  const request = requestIn(input)
  if ((init?.method ?? request?.method)?.toUpperCase() !== 'POST') return undefined
  const url = urlOf(input)
  const call = modelCallOf(url, dialect)
  if (call === undefined) return undefined
  const body = bodyTextOf(input, init)
  if (body === undefined || isRecordedAround({ url, body })) return undefined
  const signal = init?.signal ?? request?.signal
  return createAttempt({ call, url, body, isAborted: () => signal?.aborted === true }, dependencies)
}

interface Begun extends RunningCall {
  call: ModelCall
  isAborted: () => boolean
}

function createAttempt(begun: Begun, dependencies: RecordFetchDependencies): Attempt {
  const { call, url, body, isAborted } = begun
  const { session, lost, warn } = dependencies
  const guarded = guardedBy(lost)
  const startMs = performance.now()
  const id = newId('request')
  const labels = sessionFields(session(), warn)
  let response: Response | undefined
  let answer: PassingAnswer | undefined
  let isOver = false

  const finish = (end: End = {}) => {
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
    recordLater(begun, { fields, end, answer, status: response?.status }, dependencies)
  }
  const fail = (error: unknown) => {
    finish({ error: messageOf(error), aborted_by: isAborted() ? 'client' : 'upstream' })
  }
  const observer: BodyObserver = {
    chunk(bytes) {
      if (isOver) return
      guarded(() => {
        if (answer?.add(bytes, performance.now() - startMs) === true) finish()
      })
    },
    end: finish,
    fail,
    abandon: () => {
      // Clients do not read answers that they retry.
      finish(response?.ok === true ? { aborted_by: 'client' } : {})
    },
  }
  return {
    call: { url, body },
    fail,
    answered(given) {
      response = given
      if (canBeObserved(given)) {
        answer = createPassingAnswer(given, dependencies)
        return observeResponse(given, observer)
      }
      warn('unheard', 'answers of a custom fetch are recorded without their bodies')
      finish()
      return given
    },
  }
}

type End = Pick<RawRecord, 'error' | 'aborted_by'>

interface Ended {
  fields: Pick<RawRecord, 'id' | 'source' | 'latency_ms'>
  end: End
  answer: PassingAnswer | undefined
  status: number | undefined
}

function recordLater(
  begun: Begun,
  { fields, end, answer, status }: Ended,
  dependencies: RecordFetchDependencies,
): void {
  dependencies.deferred.run(async () => {
    // First and in any case, as the answer may hold the whole budget.
    const answered = answer?.take()
    const requestJson = await requestJsonOf(begun, dependencies)
    if (requestJson === undefined) return
    // Clients may stop reading right after the end mark: that is no abort.
    const outcome = answered?.streamEnded === true ? {} : end
    const timed = known({ time_to_first_token_ms: answer?.firstTokenMs(answered) })
    const said = saidBy(answered, begun.call, status)
    dependencies.record({
      ...fields,
      ...timed,
      ...said,
      ...outcome,
      requestJson,
      responseJson: answered?.json,
    })
  })
}

/** Ingest would reject the record for a text that it cannot store. */
const modelForm = /^[\w./:@-]{1,256}$/

/** Record fields that depend on the answer; ingest derives the others. */
function saidBy(answered: BodyJson | undefined, { model }: ModelCall, status: number | undefined) {
  const answer = answered?.value
  const error = errorOfAnswer(answer, status) ?? undefined
  // The answer's model is more exact than the path's. Google calls it the version.
  const version = textOf(fieldAt(answer, 'modelVersion')) ?? ''
  const ofPath = model !== undefined && modelForm.test(version) ? version : model
  const named = known({ error, model: textOf(fieldAt(answer, 'model')) === undefined ? ofPath : undefined })
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

/** Undefined for a request that calls no model. */
async function requestJsonOf(
  { call, body }: Begun,
  { maxBodyBytes, budget }: RecordFetchDependencies,
): Promise<string | undefined> {
  const text = await body
  if (!isModelCall(call, text)) return undefined
  const kept = createKeptBody(maxBodyBytes, budget)
  try {
    kept.add(Buffer.from(text))
    return bodyJson(kept.read(), maxBodyBytes).json
  } finally {
    kept.release()
  }
}

function known<V extends string | number | object, T extends Readonly<Record<string, V | undefined>>>(
  fields: T,
): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>
  }
}
