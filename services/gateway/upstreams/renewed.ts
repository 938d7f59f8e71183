import { messageOf } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'

/** No credentials are available for the provider. */
export class TokenUnavailable extends Error {}

export interface Fetched<T> {
  value: T
  lifetimeMs: number
}

export interface RenewedOptions<T> {
  fetchNew: () => Promise<Fetched<T>>
  now: () => number
  log: Log
}

/** Credentials with an end. */
export interface Renewed<T> {
  /** Rejects with {@link TokenUnavailable}. */
  get(): T | Promise<T>
  /** Reports that the provider refused `value`; returns whether another may be had. */
  refused(value: unknown): boolean
}

/** Credentials are renewed when a fifth of their lifetime, at most five minutes, is left. */
const maxAheadMs = 5 * 60_000
/** New credentials that are refused at once show another cause: pause. */
const retryRefusedMs = 5_000
/** Pause between requests to an identity provider that is down. */
const retryAfterMs = 1_000

/** Fetches credentials and renews them before they expire. Concurrent calls share one request. */
export function createRenewed<T extends object>({ fetchNew, now, log }: RenewedOptions<T>): Renewed<T> {
  let current: { value: T; refreshMs: number; expiresMs: number } | undefined
  let fetching: Promise<T> | undefined
  let refusedMs = -Infinity
  let failed: { atMs: number; error: TokenUnavailable } | undefined

  const fetchNow = async (): Promise<T> => {
    try {
      const { value, lifetimeMs } = await fetchNew()
      const expiresMs = now() + lifetimeMs
      current = { value, expiresMs, refreshMs: expiresMs - Math.min(maxAheadMs, lifetimeMs / 5) }
      failed = undefined
      return value
    } catch (error) {
      failed = { atMs: now(), error: new TokenUnavailable(messageOf(error), { cause: error }) }
      log.error({ err: error }, 'no token from the identity provider')
      throw failed.error
    } finally {
      fetching = undefined
    }
  }
  const fetchOnce = () => (fetching ??= fetchNow())
  const mayTry = () => failed === undefined || now() - failed.atMs >= retryAfterMs

  return {
    get() {
      if (current === undefined || current.expiresMs <= now())
        return failed === undefined || mayTry() ? fetchOnce() : Promise.reject(failed.error)
      // The failure is logged, and the current credentials are still valid.
      if (current.refreshMs <= now() && mayTry()) void fetchOnce().catch(() => undefined)
      return current.value
    },
    refused(value) {
      if (current?.value !== value) return true
      if (now() - refusedMs < retryRefusedMs) return false
      refusedMs = now()
      current = undefined
      return true
    },
  }
}
