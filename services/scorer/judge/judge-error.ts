/** A request to the judge that produced no answer. */
export class JudgeError extends Error {
  readonly status: number | null
  /** Wait requested by the provider, in milliseconds. */
  readonly retryAfterMs: number | null
  /** The provider's content filter refused the recording. */
  readonly refused: boolean

  constructor(
    message: string,
    details: {
      status?: number | null
      retryAfterMs?: number | null
      refused?: boolean
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: details.cause })
    this.name = 'JudgeError'
    this.status = details.status ?? null
    this.retryAfterMs = details.retryAfterMs ?? null
    this.refused = details.refused ?? false
  }

  /** No response, timeout, 429 or 5xx. */
  get retryable(): boolean {
    return (
      !this.refused &&
      (this.status === null || this.status === 408 || this.status === 429 || this.status >= 500)
    )
  }

  /** Opens the breaker. Bad keys and models fail all calls; only a 400 may be the recording's fault. */
  get countsAgainstModel(): boolean {
    return !this.refused && this.status !== 400 && this.status !== 413 && this.status !== 422
  }
}
