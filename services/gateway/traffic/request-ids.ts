import type { IncomingHttpHeaders } from 'node:http'
import { newId } from '#schemas/ids.ts'
import { createRemembered } from './remembered.ts'

/** Minimum number of remembered identifiers. Clients retry within seconds. */
const remembered = 50_000

export interface RequestIds {
  /** Returns the application's identifier if it is new, otherwise a fresh one of `timeMs`. */
  claim(given: string | undefined, timeMs: number): string
}

/** An identifier names one attempt: clients repeat their headers on retries, and each retry is a call. */
export function createRequestIds(): RequestIds {
  const isNew = createRemembered(remembered)
  return {
    claim: (given, timeMs) => {
      if (given !== undefined && isNew(given)) return given
      const made = newId('request', timeMs)
      // Clients see it in the answer; if one sends it with its next call, that call gets another.
      isNew(made)
      return made
    },
  }
}

/**
 * Whether the client marks this call as a retry, as those of OpenAI and Anthropic do. An unmarked retry that
 * reaches another worker, or a restarted gateway, reuses the identifier; ingest then keeps only the first
 * call.
 */
export function isRetry(headers: IncomingHttpHeaders): boolean {
  return Number(headers['x-stainless-retry-count'] ?? 0) > 0
}
