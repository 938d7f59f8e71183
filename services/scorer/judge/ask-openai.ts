import OpenAI, { APIConnectionTimeoutError, APIError } from 'openai'
import { JudgeTrouble } from './judge-trouble.ts'
import { markOf } from './own-calls.ts'
import type { AskModel, ModelReply } from './paid-requests.ts'
import { judgeRequest } from '../scoring/judge/judge-prompt.ts'

interface OpenAiOptions {
  apiKey: string
  baseUrl: string | undefined
  model: string
  timeoutMs: number
  /** Set: the server is Azure's and the address names a deployment; it wants the version, and the key in a header of its own. */
  azureApiVersion: string | undefined
  /** Key of the mark that lets scorers recognise the judge's own calls when they pass through the gateway. */
  markKey: string | null
}

/** The judge's model over the chat-completions protocol, at OpenAI or anything compatible. */
export function createOpenAiModel(options: OpenAiOptions): AskModel {
  const { apiKey, baseUrl, model, timeoutMs, azureApiVersion, markKey } = options
  // Retries are the judge's own: the client's would hide them from breaker and metrics.
  const client = new OpenAI({
    apiKey,
    baseURL: baseUrl ?? null,
    timeout: timeoutMs,
    maxRetries: 0,
    logLevel: 'off',
    ...(azureApiVersion === undefined
      ? {}
      : {
          defaultQuery: { 'api-version': azureApiVersion },
          defaultHeaders: { 'api-key': apiKey, authorization: null },
        }),
  })
  return async (prompt, signal) => {
    // The client's limit ends when the headers are there; a body that never ends must not hold a place either.
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
      throw troubleOf(error, deadline.aborted)
    }
  }
}

/** What came need not have the type that the client promises: it is whatever some server sent. */
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

/** Anything that is no text is no judgement. */
function textOf(content: unknown): string {
  return typeof content === 'string' ? content : ''
}

function tokens(given: unknown): number | null {
  return typeof given === 'number' && Number.isFinite(given) && given >= 0 ? given : null
}

function troubleOf(error: unknown, late: boolean): JudgeTrouble {
  if (late || error instanceof APIConnectionTimeoutError) {
    return new JudgeTrouble('the judge did not answer within JUDGE_TIMEOUT_MS', { cause: error })
  }
  if (error instanceof APIError) {
    const { status, code, headers } = error as { status?: number; code?: string | null; headers?: Headers }
    return new JudgeTrouble(
      status === undefined ? 'the judge cannot be reached' : `the judge answered ${status}`,
      {
        status: status ?? null,
        refused: code === 'content_filter',
        retryAfterMs: retryAfterOf(headers?.get('retry-after') ?? null),
        cause: error,
      },
    )
  }
  return new JudgeTrouble('the answer of the judge cannot be read', { cause: error })
}

/** Seconds, as every provider sends them; a date means "later than we wait". */
function retryAfterOf(header: string | null): number | null {
  if (header === null) return null
  const seconds = Number(header)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : Infinity
}
