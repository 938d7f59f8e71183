import type { Dispatcher } from 'undici'
import type { Log } from '#runtime/log.ts'
import { hostOf, isLoopback } from '#runtime/outbound-address.ts'
import { fixedAwsCredentials, roleAwsCredentials } from './aws/aws-credentials.ts'
import { createFetchKeys } from './aws/fetch-keys.ts'
import type { UpstreamSecret } from './credentials-schema.ts'
import { fetchMetadataToken } from './google/metadata-tokens.ts'
import { createServiceAccountTokens } from './google/service-account.ts'
import { fetchClientCredentialsToken } from './request-token.ts'
import { fixedCredentials, tokenCredentials, type UpstreamCredentials } from './upstream-credentials.ts'
import type { UpstreamEntry } from './upstreams-file.ts'

export interface CredentialsOptions {
  /** For identity providers. */
  outside: Dispatcher
  /** For metadata services on this machine or beside it. */
  direct: Dispatcher
  log: Log
}

/** The gateway's credentials at the provider; undefined: the application's own are forwarded. */
export function createCredentials(
  { url, credentials }: Pick<UpstreamEntry, 'url' | 'credentials'>,
  options: CredentialsOptions,
): UpstreamCredentials | undefined {
  if (credentials !== undefined) return credentialsOf(credentials, options)
  const host = hostOf(new URL(url).hostname)
  // A local model needs no key. Elsewhere every call would get a 401, and the provider would see
  // PROXY_API_KEY.
  if (!isLoopback(host))
    options.log.warn(
      { upstream: host },
      'the upstream has no key: it receives the Authorization header of applications, which contains PROXY_API_KEY',
    )
  return undefined
}

function credentialsOf(given: UpstreamSecret, options: CredentialsOptions): UpstreamCredentials {
  const { outside, direct, log } = options
  const nowMs = () => Date.now()
  // A monotonic clock: setting the wall clock must not change lifetimes.
  const renewing = { log, now: () => performance.now() }
  switch (given.kind) {
    case 'key': {
      const { key, header } = given
      return fixedCredentials(
        header === undefined
          ? { name: 'Authorization', value: `Bearer ${key}` }
          : { name: header, value: key },
      )
    }
    case 'client': {
      const fetchToken = () => fetchClientCredentialsToken(given, outside)
      return tokenCredentials({ ...renewing, fetchToken, replaces: ['authorization', 'api-key'] })
    }
    case 'service_account': {
      const { account, scope } = given
      const fetchToken = createServiceAccountTokens(account, { scope, dispatcher: outside, nowMs })
      return tokenCredentials({ ...renewing, fetchToken, replaces: ['authorization'] })
    }
    case 'google_workload': {
      const fetchToken = () => fetchMetadataToken(given, direct)
      return tokenCredentials({ ...renewing, fetchToken, replaces: ['authorization'] })
    }
    case 'aws':
      return fixedAwsCredentials(given.keys, { ...given, nowMs })
    case 'aws_role': {
      const fetchNew = createFetchKeys(given.source, { outside, direct, nowMs })
      return roleAwsCredentials({ ...renewing, fetchNew }, { ...given, nowMs })
    }
  }
}
