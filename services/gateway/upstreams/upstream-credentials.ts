import { z } from 'zod'
import { request, type Dispatcher } from 'undici'
import { messageOf } from '#runtime/errors.ts'
import { isHeaderValue } from '#runtime/http1/request-head.ts'
import type { Log } from '#runtime/log.ts'

/** Credentials that the gateway sends instead of the application's. */
export interface UpstreamCredentials {
  /** The application's headers that they replace, in lower case; besides those that hold our key. */
  replaces: ReadonlySet<string>
  /** The header to send. Rejects with {@link TokenUnavailable}. */
  header(): UpstreamHeader | Promise<UpstreamHeader>
  /** Reports that the provider refused `value` with 401; returns whether another may be had. */
  refused(value: string): boolean
}

export interface UpstreamHeader {
  name: string
  value: string
}

/** No token is available for the provider. */
export class TokenUnavailable extends Error {}

export interface AccessToken {
  value: string
  lifetimeMs: number
}

/** A fixed key. */
export function fixedCredentials(header: UpstreamHeader): UpstreamCredentials {
  return {
    replaces: new Set([header.name.toLowerCase()]),
    header: () => header,
    refused: () => false,
  }
}

interface TokenOptions {
  fetchToken: () => Promise<AccessToken>
  now: () => number
  log: Log
}

/** A token is renewed when a fifth of its lifetime, at most five minutes, is left. */
const maxAheadMs = 5 * 60_000
/** A token that is refused right after its renewal shows another cause: pause. */
const retryRefusedMs = 5_000
/** Pause between requests to an identity provider that is down. */
const retryAfterMs = 1_000

interface CurrentToken {
  header: UpstreamHeader
  refreshMs: number
  expiresMs: number
}

/** Tokens from an identity provider. Concurrent calls share one request; renewed before they expire. */
export function tokenCredentials({ fetchToken, now, log }: TokenOptions): UpstreamCredentials {
  let current: CurrentToken | undefined
  let fetching: Promise<UpstreamHeader> | undefined
  let refusedMs = -Infinity
  let failed: { atMs: number; error: TokenUnavailable } | undefined

  const fetchNow = async (): Promise<UpstreamHeader> => {
    try {
      const { value, lifetimeMs } = await fetchToken()
      if (!isHeaderValue(value)) throw new Error('the token contains characters that a header must not')
      const header = { name: 'Authorization', value: `Bearer ${value}` }
      const expiresMs = now() + lifetimeMs
      current = { header, expiresMs, refreshMs: expiresMs - Math.min(maxAheadMs, lifetimeMs / 5) }
      failed = undefined
      return header
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
    replaces: new Set(['authorization', 'api-key']),
    header() {
      if (current === undefined || current.expiresMs <= now())
        return failed === undefined || mayTry() ? fetchOnce() : Promise.reject(failed.error)
      // The failure is logged, and the current token is still valid.
      if (current.refreshMs <= now() && mayTry()) void fetchOnce().catch(() => undefined)
      return current.header
    },
    refused(value) {
      if (current?.header.value !== value) return true
      if (now() - refusedMs < retryRefusedMs) return false
      refusedMs = now()
      current = undefined
      return true
    },
  }
}

export interface ClientCredentials {
  url: string
  clientId: string
  clientSecret: string
  scope: string | undefined
}

const tokenSchema = z.object({
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.coerce.number().positive().default(300),
})
const maxTokenSeconds = 86_400

/** OAuth 2 client credentials grant. */
export async function fetchClientCredentialsToken(
  { url, clientId, clientSecret, scope }: ClientCredentials,
  dispatcher: Dispatcher,
): Promise<AccessToken> {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    ...(scope === undefined ? {} : { scope }),
  })
  const { statusCode, body } = await request(url, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: form.toString(),
  })
  if (statusCode !== 200) {
    await body.dump()
    throw new Error(`the identity provider answered ${statusCode}`)
  }
  const token = tokenSchema.safeParse(await body.json())
  // The answer may contain a secret: do not quote it.
  if (!token.success) throw new Error('the answer of the identity provider contains no bearer token')
  const { access_token: value, expires_in: seconds } = token.data
  return { value, lifetimeMs: Math.min(seconds, maxTokenSeconds) * 1_000 }
}
