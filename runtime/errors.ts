/** Whether a retry can help. Only the runtime reads it. */
export type Retry = 'never' | 'later'

/**
 * An error with a stable `code`, listed in docs/errors.md, and `retry`, which says whether a retry can help.
 * Subclasses fix both.
 */
export abstract class SluiceError extends Error {
  abstract readonly code: string
  abstract readonly retry: Retry

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/** A retry gives the same error: the record goes to the dead-letter topic. */
export class PermanentError extends SluiceError {
  readonly retry = 'never'
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Something outside is away. A later retry can succeed. */
export class TransientError extends SluiceError {
  readonly retry = 'later'
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The message of any thrown value. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** The code of a system call, Node or Postgres, such as `ENOENT`; empty without one. */
export function codeOf(thrown: unknown): string {
  const isCoded = typeof thrown === 'object' && thrown !== null && 'code' in thrown
  return isCoded && typeof thrown.code === 'string' ? thrown.code : ''
}
