/** A request to the judge that brought no answer. */
export class JudgeTrouble extends Error {
  readonly status: number | null
  /** How long the provider asks to wait, milliseconds. */
  readonly retryAfterMs: number | null
  /** The provider's filter refused the recording. */
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
    this.name = 'JudgeTrouble'
    this.status = details.status ?? null
    this.retryAfterMs = details.retryAfterMs ?? null
    this.refused = details.refused ?? false
  }

  /** No answer at all, a time limit, too many requests or a fault on their side. */
  get retryable(): boolean {
    return (
      !this.refused &&
      (this.status === null || this.status === 408 || this.status === 429 || this.status >= 500)
    )
  }

  /** A wrong key or an unknown model fails every call as surely as an outage does; only 400 can be about one recording. */
  get countsAgainstModel(): boolean {
    return !this.refused && this.status !== 400 && this.status !== 413 && this.status !== 422
  }
}
