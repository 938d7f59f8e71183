/** All public types, in a file without imports, so that its declarations stand alone. */

/**
 * Records the calls of one project. A program uses one client by `configure`, or several by `createClient`.
 */
export interface SluiceClient {
  /**
   * Records all further calls of a provider's client, and returns the same client. With a gateway configured,
   * clients for chat completions call through it. An unknown client is returned unchanged, with a warning.
   * Wrapping twice has no further effect.
   */
  wrap<T extends object>(client: T): T
  /**
   * Returns a `fetch` for any client or framework that takes one, which records calls of models; everything
   * else passes. Inside a wrapped client a call is recorded once. `inner` sends; by default the platform's
   * own. Calls to the gateway's address get its key and labels, and are recorded there.
   */
  createFetch(inner?: Fetch): Fetch
  /** Returns `traced` with each call recorded: arguments and result. */
  trace<F extends AnyFunction>(traced: F, options?: TraceOptions): F
  /** The same as a standard method decorator: `@traced()`. */
  traced(options?: TraceOptions): <F extends AnyFunction>(method: F, context: { name: string | symbol }) => F
  /** Records a finished tool call. */
  recordToolCall(call: ToolCall): void
  /** Runs `work`; its calls are recorded under `session`. */
  withSession<T>(session: Session, work: () => T): T
  /** Resolves to true when everything recorded is sent, or to false after `timeoutMs` (default 5,000). */
  flush(timeoutMs?: number): Promise<boolean>
  /** Flushes and stops. Later records are dropped and counted. */
  shutdown(timeoutMs?: number): Promise<void>
  stats(): ShippingStats
}

/** The platform's `fetch`, if its types are known. */
export type Fetch = typeof globalThis extends { fetch: infer F } ? F : never

/** Options of a client. Defaults come from the environment where a variable is named. */
export interface SluiceOptions {
  /**
   * The project's key (`svc_…`). Default: `SERVICE_API_KEY`. Without a key nothing is recorded, with one
   * warning.
   */
  apiKey?: string | undefined
  /** Address of the API. Default: `SERVICE_BASE_URL`, or else `http://localhost:8000`. */
  baseUrl?: string | undefined
  /**
   * Address of the gateway. Default: `SERVICE_PROXY_URL`. If set, clients for chat completions call through
   * the gateway, which records them.
   */
  proxyUrl?: string | undefined
  /** The gateway's key. Default: `PROXY_API_KEY`, or else `apiKey`, as a gateway may accept project keys. */
  proxyApiKey?: string | undefined
  /** Default labels of records, unless `withSession` sets others. */
  agentName?: string | undefined
  agentTag?: string | undefined
  sessionId?: string | undefined
  userId?: string | undefined
  metadata?: Readonly<Record<string, unknown>> | undefined
  /**
   * Receives each record before it is sent, and returns it, changed or not, or nothing to drop it. If it
   * throws, or returns anything else or a promise, the record is dropped, never the call. Calls through the
   * gateway are recorded there and do not pass here.
   */
  beforeSend?: ((record: CallRecord) => CallRecord | null | undefined) | undefined
  /**
   * Maximum bytes of records waiting to be sent; beyond it the oldest are dropped and counted. Default: 16
   * MiB.
   */
  maxQueueBytes?: number | undefined
  /**
   * Maximum bytes kept of each body (eight times as many for a stream's text); the rest is replaced by length
   * and SHA-256. Default and maximum: 4 MiB.
   */
  maxBodyBytes?: number | undefined
}

/** Labels of a part of a program. Missing fields come from the enclosing session. */
export interface Session {
  sessionId?: string | undefined
  agentName?: string | undefined
  agentTag?: string | undefined
  userId?: string | undefined
  metadata?: Readonly<Record<string, unknown>> | undefined
  /**
   * Where the requests hold retrieved text: message indexes from 0 and JSON pointers. Scorers take it for
   * material of others, and answers are compared with it.
   */
  context?: readonly (number | string)[] | undefined
}

export interface TraceOptions extends Session {
  /** Name of the function in records. Default: its own name. */
  name?: string | undefined
  /** The model that the function calls, if any. */
  model?: string | undefined
}

/** An agent's call of a tool. */
export interface ToolCall extends Session {
  toolName: string
  arguments?: unknown
  /** The tool's result; omit it without one. */
  result?: unknown
  /** The error, if the call failed or timed out. */
  error?: string | undefined
  latencyMs?: number | undefined
  model?: string | undefined
}

/** A recorded call, as accepted by `POST /internal/log`. Unknown fields are omitted. */
export interface CallRecord {
  /** `req_…`, set when the call starts: a record sent twice is stored once. */
  id: string
  agent_name?: string
  agent_tag?: string
  session_id?: string
  user_id?: string
  metadata?: Record<string, unknown>
  context?: (number | string)[]
  model?: string
  provider?: string
  request_body: Record<string, unknown>
  response_body?: Record<string, unknown> | null
  /** Milliseconds from the start of the call to the end of its answer. */
  latency_ms?: number
  /** Milliseconds to the first chunk with generated content: text, reasoning or a tool call. */
  time_to_first_token_ms?: number
  /**
   * Token counts of a truncated answer; otherwise they are read from it. Without cached and reasoning tokens.
   */
  prompt_tokens?: number
  cached_tokens?: number
  /** Part of `prompt_tokens`: written to the provider's cache; of these, cached for an hour. */
  cache_write_tokens?: number
  cache_write_1h_tokens?: number
  completion_tokens?: number
  reasoning_tokens?: number
  /** Service tier stated by a truncated answer, which may affect the price. */
  service_tier?: string
  /** Region stated by the answer, which may affect the price. */
  inference_geo?: string
  /** Amounts billed other than as text: tokens (`audio_input`) and uses of hosted tools (`web_search`). */
  billed_parts?: Record<string, number>
  status_code?: number
  error?: string
  aborted_by?: 'client' | 'upstream'
  source: 'sdk' | 'trace' | 'mcp'
}

/** Counts since the client was created, and what is waiting now. */
export interface ShippingStats {
  /** Records accepted by the API. */
  sent: number
  /** Records waiting or being sent. */
  waiting: number
  /** Bytes held in memory for recording, including bodies of running calls. */
  heldBytes: number
  /** Lost records, by reason. */
  dropped: Readonly<Record<DropReason, number>>
}

/**
 * `queue_full`: no memory left (`maxQueueBytes`). `over_quota`, `refused`: not accepted by the API or
 * something before it. `before_send`: that function threw. `capture_failed`: the record could not be built.
 * `shut_down`: left over at, or added after, `shutdown()`.
 */
export type DropReason =
  'queue_full' | 'over_quota' | 'refused' | 'before_send' | 'capture_failed' | 'shut_down'

// oxlint-disable-next-line typescript/no-explicit-any -- whatever a function takes, it takes it still
export type AnyFunction = (this: any, ...given: any[]) => any
