import type { IncomingHttpHeaders } from 'node:http'
import { newId } from '#schemas/ids.ts'
import { createRemembered } from './remembered.ts'

/** How many identifiers are remembered, at least. Retries of provider clients come within seconds. */
const remembered = 50_000

export interface RequestIds {
  /** The identifier given by the application when it is new, else a fresh one of `timeMs`. */
  claim(given: string | undefined, timeMs: number): string
}

/** A given identifier names one attempt: provider clients repeat headers on their own retries, and each of these is a call. */
export function createRequestIds(): RequestIds {
  const isNew = createRemembered(remembered)
  return {
    claim: (given, timeMs) => {
      if (given !== undefined && isNew(given)) return given
      const made = newId('request', timeMs)
      // Every answer carries it: a client that shows it again with its next call would have that one taken for this.
      isNew(made)
      return made
    },
  }
}

/**
 * Whether a client says that it makes this call again: the official ones of OpenAI and Anthropic do. Of one that does not, a given
 * identifier that reaches another worker, or a gateway that has started since, names two calls: ingest keeps the first.
 */
export function isRetry(headers: IncomingHttpHeaders): boolean {
  return Number(headers['x-stainless-retry-count'] ?? 0) > 0
}
