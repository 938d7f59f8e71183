import { urlOf, type Fetch } from '../capturing/fetch-request.ts'
import type { Settings } from '../options.ts'
import type { Session } from '../types.ts'
import type { Warn } from '../warn.ts'
import { gatewayFetch } from './gateway-fetch.ts'
import type { Replace } from './replace-fetch.ts'

interface FetchDependencies {
  settings: Settings
  session: () => Session
  /** Undefined: recording is off. */
  replace: Replace | undefined
  warn: Warn
}

/**
 * `inner` that records model calls. Calls to the gateway's address get its key and labels instead, as the
 * gateway records them.
 */
export function createFetch(inner: Fetch, { settings, session, replace, warn }: FetchDependencies): Fetch {
  const direct = replace === undefined ? inner : replace(inner)
  const { proxyUrl, proxyApiKey } = settings
  if (proxyUrl === undefined || proxyApiKey === undefined) return direct
  const gateway = gatewayFetch(inner, proxyApiKey, session, warn)
  const atGateway = `${new URL(proxyUrl).href.replace(/\/$/, '')}/`
  return async (input, init) => {
    const url = urlOf(input)
    const isGateway = URL.canParse(url) && new URL(url).href.startsWith(atGateway)
    return (isGateway ? gateway : direct)(input, init)
  }
}
