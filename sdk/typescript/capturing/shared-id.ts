import { idTimeMs, isId } from '../../../schemas/ids.ts'
import type { Warn } from '../warn.ts'

/** An identifier further away may come from a cache, and ingest rejects those too far from its clock. */
const maxApartMs = 10 * 60_000
const maxTaken = 1_000
const taken = new Set<string>()

const gatewayToo =
  'a wrapped client calls through a gateway, which records its calls too: each is stored once, as the first of them says it, so labels may be missing. Set proxyUrl (SERVICE_PROXY_URL) instead of the client’s address; where that is not possible, send the labels as headers and do not wrap it'

/**
 * The identifier of a call's record: `own`, or the gateway's if the client's address is a gateway, so that
 * the call is stored once. Not an identifier seen before: a proxy's cache repeats headers, and each call
 * needs its own.
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
