import { SluiceError, type Retry } from '#runtime/errors.ts'

/** An error that the browser is told about, in the API's form: `{detail, code}`. */
export class DashboardProblem extends SluiceError {
  readonly code: string
  readonly status: number
  readonly retry: Retry
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    detail: string,
    options: { headers?: Readonly<Record<string, string>>; cause?: unknown } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.status = status
    this.code = code
    this.retry = status >= 500 ? 'later' : 'never'
    this.headers = options.headers ?? {}
  }
}
