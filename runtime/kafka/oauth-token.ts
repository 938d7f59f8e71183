import { z } from 'zod'
import type { Clock } from '../clock.ts'
import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'

/** What kafkajs sends to a broker. */
interface BearerToken {
  value: string
  extensions?: Readonly<Record<string, string>>
}

export interface TokenSource {
  url: string
  clientId: string
  clientSecret: string
  scope?: string | undefined
  extensions?: Readonly<Record<string, string>> | undefined
}

const timeoutMs = 10_000
/** A token is renewed when a fifth of its lifetime, at most a minute, is left: before a broker asks again. */
const maxAheadMs = 60_000
const maxLifetimeS = 86_400

const answerSchema = z.object({
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.coerce.number().positive().default(300),
})

/**
 * Tokens of an identity provider by the client credentials grant (RFC 6749, 4.4). Connections that open
 * together share one request. While the provider is away the last token is given until it ends.
 */
export function createTokenProvider(
  source: TokenSource,
  { clock, log }: { clock: Pick<Clock, 'now'>; log: Log },
): () => Promise<BearerToken> {
  const { extensions = {} } = source
  let current: { value: string; renewMs: number; endsMs: number } | undefined
  let fetching: Promise<string> | undefined

  const renew = async (): Promise<string> => {
    try {
      const { value, lifetimeMs } = await requestToken(source)
      const endsMs = clock.now() + lifetimeMs
      current = { value, endsMs, renewMs: endsMs - Math.min(maxAheadMs, lifetimeMs / 5) }
      return value
    } catch (error) {
      log.error({ reason: messageOf(error) }, 'no token for Kafka from the identity provider')
      if (current === undefined || current.endsMs <= clock.now()) throw error
      return current.value
    } finally {
      fetching = undefined
    }
  }
  return async () => {
    const isFresh = current !== undefined && clock.now() < current.renewMs
    const value = isFresh && current !== undefined ? current.value : await (fetching ??= renew())
    return Object.keys(extensions).length === 0 ? { value } : { value, extensions }
  }
}

async function requestToken({ url, clientId, clientSecret, scope }: TokenSource) {
  const form = {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    ...(scope === undefined ? {} : { scope }),
  }
  const response = await fetch(url, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams(form),
    // The secret goes to nobody else.
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`the identity provider answered ${response.status}`)
  // The answer may contain a secret: do not quote it.
  const answer = answerSchema.safeParse(parsed(text))
  if (!answer.success) throw new Error('the answer of the identity provider contains no bearer token')
  const { access_token: value, expires_in: seconds } = answer.data
  return { value, lifetimeMs: Math.min(seconds, maxLifetimeS) * 1_000 }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
