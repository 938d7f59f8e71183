import { request, type Dispatcher } from 'undici'
import { readToken } from '../request-token.ts'
import type { AccessToken } from '../upstream-credentials.ts'

/** As Google's clients name it: GCE_METADATA_HOST replaces it. */
export const metadataHost = 'metadata.google.internal'
const tokenPath = '/computeMetadata/v1/instance/service-accounts/default/token'
/** It is on this machine or beside it. */
const timeoutMs = 10_000

/** A token of the identity that this workload has at Google Cloud, from the metadata server. */
export async function fetchMetadataToken(
  { host, scope }: { host: string; scope: string },
  dispatcher: Dispatcher,
): Promise<AccessToken> {
  const { statusCode, body } = await request(`http://${host}${tokenPath}`, {
    dispatcher,
    query: { scopes: scope.replaceAll(' ', ',') },
    headers: { 'metadata-flavor': 'Google', accept: 'application/json' },
    signal: AbortSignal.timeout(timeoutMs),
  })
  return readToken(statusCode, body)
}
