import { idTimeMs, isId } from '../../schemas/ids.ts'
import type { Warn } from '../warn.ts'

/** What is further off may come out of a cache, and ingest refuses what is too far off for its own clock. */
const maxApartMs = 10 * 60_000
const maxTaken = 1_000
const taken = new Set<string>()

const gatewayToo =
  'a wrapped client calls through a gateway, which records its calls too: each is stored once, as whoever is first says it, so labels may be missing. Set proxyUrl (SERVICE_PROXY_URL) instead of the client’s address; where that is not possible, send the labels as headers and do not wrap it'

/**
 * The identifier of a call's record: `own`, unless a gateway answered, which it did where the client's own address is one. Then it is
 * the gateway's, so that the call is stored and counted once. Not what has been seen before: a proxy's cache repeats headers, and a
 * call of its own must not be taken for another.
 */
export function sharedId(own: string, answer: Headers | undefined, warn: Warn): string {
  const id = answer?.get('x-service-request-id') ?? ''
  if (!isId('request', id) || taken.has(id)) return own
  if (Math.abs(idTimeMs(id) - idTimeMs(own)) > maxApartMs) return own
  if (taken.size >= maxTaken) taken.clear()
  taken.add(id)
  warn('gateway', gatewayToo)
  return id
}
