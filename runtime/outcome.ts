import type { PermanentError } from './errors.ts'

/** The outcome of one record. Failure is data, which the consumer applies in one place. */
export type Outcome<T = void> =
  { kind: 'ok'; value: T } | { kind: 'drop'; reason: string } | { kind: 'dead_letter'; error: PermanentError }

export function ok(): Outcome
export function ok<T>(value: T): Outcome<T>
export function ok<T>(value?: T): Outcome<T | undefined> {
  return { kind: 'ok', value }
}

/** Settles a record that needs no more work. `reason` is a metric label from a fixed set. */
export function drop(reason: string): Outcome<never> {
  return { kind: 'drop', reason }
}

export function deadLetter(error: PermanentError): Outcome<never> {
  return { kind: 'dead_letter', error }
}
