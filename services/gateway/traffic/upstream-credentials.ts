import { z } from 'zod'
import { request, type Dispatcher } from 'undici'
import { messageOf } from '#runtime/errors.ts'
import { isHeaderValue } from '#runtime/http1/request-head.ts'
import type { Log } from '#runtime/log.ts'

/** What the gateway presents to the provider in place of what the application sent. */
export interface UpstreamCredentials {
  /** The application's headers that it stands for, in lower case. */
  replaces: ReadonlySet<string>
  /** Name and value of the header. Rejects with {@link TokenUnavailable}. */
  header(): UpstreamHeader | Promise<UpstreamHeader>
  /** Told that the provider answered 401 to `value`: whether another one may be had. */
  refused(value: string): boolean
}

export interface UpstreamHeader {
  name: string
  value: string
}

/** There is no token to call the provider with. */
export class TokenUnavailable extends Error {}

export interface AccessToken {
  value: string
  lifetimeMs: number
}

/** A key that never changes. */
export function fixedCredentials(header: UpstreamHeader): UpstreamCredentials {
  return {
    replaces: new Set(['authorization', header.name.toLowerCase()]),
    header: () => header,
    refused: () => false,
  }
}

interface TokenOptions {
  fetchToken: () => Promise<AccessToken>
  now: () => number
  log: Log
}

/** A token is replaced while a fifth of its life, five minutes at most, is left. */
const maxAheadMs = 5 * 60_000
/** A provider that refuses the token fetched after a refusal refuses more than the token: it is left in peace for a while. */
const retryRefusedMs = 5_000
/** An identity provider that is away is not asked with every call. */
const retryAfterMs = 1_000

interface CurrentToken {
  header: UpstreamHeader
  refreshMs: number
  expiresMs: number
}

/** Tokens from an identity provider: fetched once however many calls wait, and anew before they expire. */
export function tokenCredentials({ fetchToken, now, log }: TokenOptions): UpstreamCredentials {
  let current: CurrentToken | undefined
  let fetching: Promise<UpstreamHeader> | undefined
  let refusedMs = -Infinity
  let failed: { atMs: number; error: TokenUnavailable } | undefined

  const fetchNow = async (): Promise<UpstreamHeader> => {
    try {
      const { value, lifetimeMs } = await fetchToken()
      if (!isHeaderValue(value)) throw new Error('the token holds what no header may')
      const header = { name: 'Authorization', value: `Bearer ${value}` }
      const expiresMs = now() + lifetimeMs
      current = { header, expiresMs, refreshMs: expiresMs - Math.min(maxAheadMs, lifetimeMs / 5) }
      failed = undefined
      return header
    } catch (error) {
      failed = { atMs: now(), error: new TokenUnavailable(messageOf(error), { cause: error }) }
      log.error({ err: error }, 'the identity provider gives no token for the model provider')
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
      // It is logged where it fails; the token at hand is still good.
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

/** Asks an identity provider by the client credentials grant of OAuth 2. */
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
  // What it answered instead may hold a secret.
  if (!token.success) throw new Error('the identity provider gave an answer that is no bearer token')
  const { access_token: value, expires_in: seconds } = token.data
  return { value, lifetimeMs: Math.min(seconds, maxTokenSeconds) * 1_000 }
}
