import { SluiceError, type Retry } from '#runtime/errors.ts'

/** One fault of the input: where (`filters.severity.0`), and what. */
export interface FieldError {
  path: string
  message: string
}

interface ProblemOptions {
  errors?: readonly FieldError[] | undefined
  headers?: Readonly<Record<string, string>>
  cause?: unknown
  /** Further fields of the answer. */
  more?: Readonly<Record<string, unknown>>
}

/** An error that a client sees: `{detail, code}` with a status and, for 422, `errors`. */
export class Problem extends SluiceError {
  readonly code: string
  readonly status: number
  readonly retry: Retry
  readonly errors: readonly FieldError[] | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly more: Readonly<Record<string, unknown>>

  constructor(status: number, code: string, detail: string, options: ProblemOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.status = status
    this.code = code
    this.retry = status === 429 || status >= 500 ? 'later' : 'never'
    // A fault without a field concerns the whole input.
    this.errors = options.errors ?? (status === 422 ? [{ path: '', message: detail }] : undefined)
    this.headers = options.headers ?? {}
    this.more = options.more ?? {}
  }

  /** A copy whose answer has these fields too. */
  withFields(more: Readonly<Record<string, unknown>>): Problem {
    const { errors, headers, cause } = this
    return new Problem(this.status, this.code, this.message, { errors, headers, cause, more })
  }

  /** The JSON body of the answer. */
  body(): Record<string, unknown> {
    return {
      detail: this.message,
      code: this.code,
      ...(this.errors === undefined ? {} : { errors: this.errors }),
      ...this.more,
    }
  }
}

/**
 * Limits of `errors`: 256 KiB of unknown fields gave an answer of 1.8 MB, which answer-budget.ts does not
 * reserve.
 */
const maxErrors = 100
const maxPathLength = 200

/** 422 that names the fields at fault, the first one in `detail` too. */
export function invalidInput(faults: readonly FieldError[]): Problem {
  const errors = faults
    .slice(0, maxErrors)
    .map(({ path, message }) => ({ path: path.slice(0, maxPathLength), message }))
  const [first] = errors
  const named = first === undefined ? 'the input is invalid' : `${first.path || 'body'}: ${first.message}`
  const detail = faults.length <= 1 ? named : `${named} (and ${faults.length - 1} more, see errors)`
  return new Problem(422, 'INVALID_INPUT', detail, { errors })
}

/** 405 that names the methods of the path. */
export function methodNotAllowed(method: string, allowed: readonly string[]): Problem {
  const allow = allowed.join(', ')
  return new Problem(405, 'METHOD_NOT_ALLOWED', `${method} is not known here; allowed: ${allow}`, {
    headers: { allow },
  })
}

/** 503 for an unavailable dependency; clients retry after `retryAfterS` seconds. */
export function unavailable(code: string, detail: string, cause: unknown, retryAfterS = 5): Problem {
  return new Problem(503, code, detail, { headers: { 'retry-after': String(retryAfterS) }, cause })
}

/** 404. A resource of another project gets the same answer as one that does not exist. */
export function notFound(what: string, id: string): Problem {
  return new Problem(404, 'NOT_FOUND', `there is no ${what} ${id}`)
}

/** The value, or 404. */
export function found<T>(value: T | undefined, what: string, id: string): T {
  if (value === undefined) throw notFound(what, id)
  return value
}
