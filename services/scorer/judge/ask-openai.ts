import { Agent } from 'undici'
import OpenAI, { APIConnectionTimeoutError, APIError, type ClientOptions } from 'openai'
import { createEgressConnector } from '#runtime/egress/egress-connector.ts'
import type { EgressConfig } from '#runtime/egress/egress-fields.ts'
import { ProxyFailed } from '#runtime/egress/open-tunnel.ts'
import { JudgeError } from './judge-error.ts'
import { markOf } from './own-calls.ts'
import type { AskModel, ModelReply } from './paid-requests.ts'
import { judgeRequest } from '../scoring/judge/model-request.ts'

interface OpenAiOptions {
  apiKey: string
  baseUrl: string | undefined
  model: string
  timeoutMs: number
  /** Set for Azure: the URL names a deployment, and requests need this version and an `api-key` header. */
  azureApiVersion: string | undefined
  /** HMAC key for marking the judge's own calls, which scorers then recognise behind the gateway. */
  markKey: string | null
  egress?: EgressConfig
}

/** Calls the judge model over the chat-completions protocol: OpenAI or anything compatible. */
export function createOpenAiModel(options: OpenAiOptions): AskModel {
  const { apiKey, baseUrl, model, timeoutMs, azureApiVersion, markKey } = options
  // No client retries: they would be invisible to the breaker and the metrics.
  const client = new OpenAI({
    apiKey,
    baseURL: baseUrl ?? null,
    timeout: timeoutMs,
    maxRetries: 0,
    logLevel: 'off',
    ...throughProxy(options),
    ...(azureApiVersion === undefined
      ? {}
      : {
          defaultQuery: { 'api-version': azureApiVersion },
          defaultHeaders: { 'api-key': apiKey, authorization: null },
        }),
  })
  return async (prompt, signal) => {
    // The client's timeout ends at the headers; this one also covers the body, so an endless one frees its
    // permit.
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    try {
      const request = judgeRequest(model, prompt)
      const completion = await client.chat.completions.create(request, {
        signal: deadline,
        headers:
          markKey === null
            ? {}
            : { 'X-Service-Metadata': JSON.stringify({ sluice_judge: markOf(request, markKey) }) },
      })
      return replyOf(completion)
    } catch (error) {
      signal.throwIfAborted()
      throw judgeErrorOf(error, deadline.aborted)
    }
  }
}

/** Nothing without a proxy: the client then keeps its usual connections. */
function throughProxy({ egress, timeoutMs }: OpenAiOptions): Pick<ClientOptions, 'fetchOptions'> {
  if (egress?.UPSTREAM_PROXY_URL === undefined) return {}
  const dispatcher = new Agent({ connect: createEgressConnector(egress, { timeout: timeoutMs }) })
  // Typed by another version of undici than ours.
  const fetchOptions: object = { dispatcher }
  return { fetchOptions }
}

/** The response may be of any shape, whatever the client's type says. */
function replyOf(completion: Partial<OpenAI.ChatCompletion> | string | null): ModelReply {
  if (typeof completion !== 'object' || completion === null)
    return { text: '', promptTokens: null, cachedTokens: 0, completionTokens: null }
  const choice = completion.choices?.[0] as Partial<OpenAI.ChatCompletion.Choice> | undefined
  const declined = choice?.finish_reason === 'content_filter' || typeof choice?.message?.refusal === 'string'
  const promptTokens = tokens(completion.usage?.prompt_tokens)
  const cachedTokens = tokens(completion.usage?.prompt_tokens_details?.cached_tokens) ?? 0
  return {
    text: declined ? null : textOf(choice?.message?.content),
    promptTokens,
    cachedTokens: Math.min(cachedTokens, promptTokens ?? 0),
    completionTokens: tokens(completion.usage?.completion_tokens),
  }
}

/** Null unless `content` is a string. */
function textOf(content: unknown): string {
  return typeof content === 'string' ? content : ''
}

function tokens(given: unknown): number | null {
  return typeof given === 'number' && Number.isFinite(given) && given >= 0 ? given : null
}

function judgeErrorOf(error: unknown, late: boolean): JudgeError {
  if (late || error instanceof APIConnectionTimeoutError) {
    return new JudgeError('the judge did not answer within JUDGE_TIMEOUT_MS', { cause: error })
  }
  if (error instanceof APIError) {
    const { status, code, headers } = error as { status?: number; code?: string | null; headers?: Headers }
    return new JudgeError(status === undefined ? unreachable(error) : `the judge answered ${status}`, {
      status: status ?? null,
      refused: code === 'content_filter',
      retryAfterMs: retryAfterOf(headers?.get('retry-after') ?? null),
      cause: error,
    })
  }
  return new JudgeError('the judge response could not be parsed', { cause: error })
}

function unreachable(error: unknown): string {
  const proxyFailure = causesOf(error).find((cause) => cause instanceof ProxyFailed)
  return `the judge is unreachable${proxyFailure === undefined ? '' : `: ${proxyFailure.reason}`}`
}

function causesOf(error: unknown): unknown[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : []
}

/** Seconds only. An HTTP date counts as longer than we wait. */
function retryAfterOf(header: string | null): number | null {
  if (header === null) return null
  const seconds = Number(header)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : Infinity
}
