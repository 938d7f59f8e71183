/** Whether doing the same again can help. The runtime reads this, nothing else decides. */
export type Retry = 'never' | 'later'

/**
 * An error that says what it is: `code` is stable and listed in docs/errors.md, `retry` says whether trying again can help.
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

/** Doing it again gives the same: the record goes to the dead-letter topic. */
export class PermanentError extends SluiceError {
  readonly retry = 'never'
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Something outside is away: doing it again later can help. */
export class TransientError extends SluiceError {
  readonly retry = 'later'
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The message of anything thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** What a system call, Node or Postgres calls the error, as `ENOENT`; empty where it has no name. */
export function codeOf(thrown: unknown): string {
  const isCoded = typeof thrown === 'object' && thrown !== null && 'code' in thrown
  return isCoded && typeof thrown.code === 'string' ? thrown.code : ''
}
