/** The types of the package's surface, in one file that imports nothing: its declarations stand alone. */

/** Records the calls of one project. A program has one by `configure`, or several by `createClient`. */
export interface SluiceClient {
  /**
   * Records what a provider's client calls from now on, and returns that same client. With a gateway configured, clients that speak chat
   * completions call through it. One that is not known is returned as it is, with a warning. Wrapping twice is wrapping once.
   */
  wrap<T extends object>(client: T): T
  /** `traced`, with its arguments and result recorded as one call. */
  trace<F extends AnyFunction>(traced: F, options?: TraceOptions): F
  /** The same as a standard decorator of methods: `@traced()`. */
  traced(options?: TraceOptions): <F extends AnyFunction>(method: F, context: { name: string | symbol }) => F
  /** Records a call of a tool that is over. */
  recordToolCall(call: ToolCall): void
  /** Runs `work`; what it calls is recorded under `session`. */
  withSession<T>(session: Session, work: () => T): T
  /** Resolves when all that was recorded is sent (true), or after `timeoutMs` (default 5,000; false). */
  flush(timeoutMs?: number): Promise<boolean>
  /** Flushes and stops: what comes later is dropped and counted. */
  shutdown(timeoutMs?: number): Promise<void>
  stats(): ShippingStats
}

/** How a client of Sluice is set up. What is left out is taken from the environment where a variable is named, else from the default. */
export interface SluiceOptions {
  /** Key of the project (`svc_…`). Default: `SERVICE_API_KEY`. Without one nothing is recorded and one warning says so. */
  apiKey?: string | undefined
  /** Address of the API. Default: `SERVICE_BASE_URL`, else `http://localhost:8000`. */
  baseUrl?: string | undefined
  /** Address of the gateway. Default: `SERVICE_PROXY_URL`. Given: clients that speak chat completions call through it, and the gateway records them. */
  proxyUrl?: string | undefined
  /** Key that the gateway asks for. Default: `PROXY_API_KEY`, else `apiKey` (a gateway may take projects' keys). */
  proxyApiKey?: string | undefined
  /** What records say of the program where `withSession` says nothing else. */
  agentName?: string | undefined
  agentTag?: string | undefined
  sessionId?: string | undefined
  userId?: string | undefined
  metadata?: Readonly<Record<string, unknown>> | undefined
  /**
   * Sees each record before it is sent; returns it, changed or not, or nothing to drop it. When it throws, or returns
   * something else or a promise, the record is dropped, never the call. Calls through the gateway are recorded there and do not pass here.
   */
  beforeSend?: ((record: CallRecord) => CallRecord | null | undefined) | undefined
  /** Bytes of records that may wait to be sent; beyond it the oldest are dropped and counted. Default: 16 MiB. */
  maxQueueBytes?: number | undefined
  /** Bytes kept of each body, and eight times as many of the text of a stream; the rest is replaced by length and SHA-256. Default: 4 MiB, at most that. */
  maxBodyBytes?: number | undefined
}

/** What a stretch of a program belongs to. Fields that are left out are those of the session around it. */
export interface Session {
  sessionId?: string | undefined
  agentName?: string | undefined
  agentTag?: string | undefined
  userId?: string | undefined
  metadata?: Readonly<Record<string, unknown>> | undefined
}

export interface TraceOptions extends Session {
  /** What the records call the function. Default: its name. */
  name?: string | undefined
  /** The model that the function calls, where there is one. */
  model?: string | undefined
}

/** A call of a tool by an agent. */
export interface ToolCall extends Session {
  toolName: string
  arguments?: unknown
  /** What the tool answered; left out when it did not. */
  result?: unknown
  /** What went wrong, when it failed or took too long. */
  error?: string | undefined
  latencyMs?: number | undefined
  model?: string | undefined
}

/** One recorded call, as `POST /internal/log` takes it. Fields that are not known are left out. */
export interface CallRecord {
  /** `req_…`, fixed when the call began: sent again it is stored once. */
  id: string
  agent_name?: string
  agent_tag?: string
  session_id?: string
  user_id?: string
  metadata?: Record<string, unknown>
  model?: string
  provider?: string
  request_body: Record<string, unknown>
  response_body?: Record<string, unknown> | null
  /** Milliseconds from the start of the call to the end of its answer. */
  latency_ms?: number
  /** Milliseconds to the first chunk of a streamed answer that has something generated: words, reasoning, the call of a tool. */
  time_to_first_token_ms?: number
  /** Tokens, where the answer was cut: else they are read from it. Without those that came from a cache, or that were reasoning. */
  prompt_tokens?: number
  cached_tokens?: number
  /** Part of `prompt_tokens`: written to the provider's cache, and of these what is kept for an hour. */
  cache_write_tokens?: number
  cache_write_1h_tokens?: number
  completion_tokens?: number
  reasoning_tokens?: number
  /** The tier that served a call whose answer was cut, as the answer says it: it may cost more or less. */
  service_tier?: string
  /** Where it was served, which may cost more too. */
  inference_geo?: string
  /** How much there was of what costs other than text: tokens (`audio_input`) and uses of hosted tools (`web_search`). */
  billed_parts?: Record<string, number>
  status_code?: number
  error?: string
  aborted_by?: 'client' | 'upstream'
  source: 'sdk' | 'trace' | 'mcp'
}

/** Counts since the client was made, and what waits now. */
export interface ShippingStats {
  /** Records that the API has taken. */
  sent: number
  /** Records that wait or are under way. */
  waiting: number
  /** Bytes held in memory for recording, bodies of calls under way included. */
  heldBytes: number
  /** Records that were lost, by reason. */
  dropped: Readonly<Record<DropReason, number>>
}

/**
 * `queue_full`: there was no room (`maxQueueBytes`); `over_quota`, `refused`: the API, or what stands before it, did not take it; `before_send`: that function threw;
 * `capture_failed`: no record could be made of the call; `shut_down`: it was left, or came, after `shutdown()`.
 */
export type DropReason =
  'queue_full' | 'over_quota' | 'refused' | 'before_send' | 'capture_failed' | 'shut_down'

// oxlint-disable-next-line typescript/no-explicit-any -- whatever a function takes, it takes it still
export type AnyFunction = (this: any, ...given: any[]) => any
