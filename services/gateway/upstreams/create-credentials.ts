import type { Dispatcher } from 'undici'
import type { Log } from '#runtime/log.ts'
import { hostOf, isLoopback } from '#runtime/outbound-address.ts'
import type { UpstreamEntry } from './upstreams-file.ts'
import {
  fetchClientCredentialsToken,
  fixedCredentials,
  tokenCredentials,
  type UpstreamCredentials,
} from './upstream-credentials.ts'

/** The gateway's credentials at the provider; undefined: the application's own are forwarded. */
export function createCredentials(
  { url, credentials }: Pick<UpstreamEntry, 'url' | 'credentials'>,
  dispatcher: Dispatcher,
  log: Log,
): UpstreamCredentials | undefined {
  if (credentials?.kind === 'client') {
    return tokenCredentials({
      log,
      // A monotonic clock: setting the wall clock must not change lifetimes.
      now: () => performance.now(),
      fetchToken: () => fetchClientCredentialsToken(credentials, dispatcher),
    })
  }
  if (credentials === undefined) {
    const host = hostOf(new URL(url).hostname)
    // A local model needs no key. Elsewhere every call would get a 401, and the provider would see
    // PROXY_API_KEY.
    if (!isLoopback(host))
      log.warn(
        { upstream: host },
        'the upstream has no key: it receives the Authorization header of applications, which contains PROXY_API_KEY',
      )
    return undefined
  }
  const { key, header } = credentials
  return fixedCredentials(
    header === undefined ? { name: 'Authorization', value: `Bearer ${key}` } : { name: header, value: key },
  )
}
