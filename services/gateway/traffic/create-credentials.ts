import type { Dispatcher } from 'undici'
import type { Log } from '#runtime/log.ts'
import { hostOf, isLoopback } from '#runtime/outbound-address.ts'
import type { GatewayConfig } from '../config.ts'
import {
  fetchClientCredentialsToken,
  fixedCredentials,
  tokenCredentials,
  type UpstreamCredentials,
} from './upstream-credentials.ts'

/** The gateway's credentials at the provider; undefined: the application's own are forwarded. */
export function createCredentials(
  config: GatewayConfig,
  dispatcher: Dispatcher,
  log: Log,
): UpstreamCredentials | undefined {
  const {
    UPSTREAM_TOKEN_URL: url,
    UPSTREAM_CLIENT_ID: clientId,
    UPSTREAM_CLIENT_SECRET: clientSecret,
    UPSTREAM_API_KEY: key,
    UPSTREAM_API_KEY_HEADER: name,
  } = config
  if (config.UPSTREAM_AUTH === 'client_credentials' && url !== undefined) {
    const client = {
      url,
      clientId: clientId ?? '',
      clientSecret: clientSecret ?? '',
      scope: config.UPSTREAM_TOKEN_SCOPE,
    }
    return tokenCredentials({
      log,
      // A monotonic clock: setting the wall clock must not change lifetimes.
      now: () => performance.now(),
      fetchToken: () => fetchClientCredentialsToken(client, dispatcher),
    })
  }
  if (key === undefined) {
    const host = hostOf(new URL(config.UPSTREAM_URL).hostname)
    // A local model needs no key. Elsewhere every call would get a 401, and the provider would see
    // PROXY_API_KEY.
    if (!isLoopback(host))
      log.warn(
        { upstream: host },
        'UPSTREAM_API_KEY is not set: the provider receives the Authorization header of applications, which contains PROXY_API_KEY',
      )
    return undefined
  }
  return fixedCredentials(
    name === undefined ? { name: 'Authorization', value: `Bearer ${key}` } : { name, value: key },
  )
}
