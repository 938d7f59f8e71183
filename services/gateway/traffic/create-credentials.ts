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

/** How the gateway is to be known to the provider; undefined: as the application is. */
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
      // Lifetimes and pauses: a wall clock that is set must not end or prolong them.
      now: () => performance.now(),
      fetchToken: () => fetchClientCredentialsToken(client, dispatcher),
    })
  }
  if (key === undefined) {
    const host = hostOf(new URL(config.UPSTREAM_URL).hostname)
    // A model on this machine asks for no key; elsewhere every call would be answered with 401, and PROXY_API_KEY told to the provider.
    if (!isLoopback(host))
      log.warn(
        { upstream: host },
        'UPSTREAM_API_KEY is not set: the provider is sent the Authorization of applications, which holds PROXY_API_KEY',
      )
    return undefined
  }
  return fixedCredentials(
    name === undefined ? { name: 'Authorization', value: `Bearer ${key}` } : { name, value: key },
  )
}
