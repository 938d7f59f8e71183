import { createRenewed, type RenewedOptions } from '../renewed.ts'
import { presentedBy, type UpstreamCredentials } from '../upstream-credentials.ts'
import { signatureHeaders, signRequest, type SigningKeys, type SigningScope } from './sign-request.ts'

/** AWS's names for keys that are not, or no longer, valid. */
const refusals = /^(?:ExpiredToken|UnrecognizedClient|InvalidClientTokenId)/

interface AwsOptions extends SigningScope {
  /** The time of day. */
  nowMs: () => number
}

const shared = { replaces: new Set<string>(signatureHeaders), signsBody: true }

/** Re-signs each request with fixed keys. */
export function fixedAwsCredentials(keys: SigningKeys, { nowMs, ...scope }: AwsOptions): UpstreamCredentials {
  return {
    ...shared,
    present: (request) => ({ headers: signRequest(request, keys, scope, nowMs()), credential: keys }),
    refused: () => false,
  }
}

/** The same with the temporary keys of a role. */
export function roleAwsCredentials(
  options: RenewedOptions<SigningKeys>,
  { nowMs, ...scope }: AwsOptions,
): UpstreamCredentials {
  const keys = createRenewed(options)
  return {
    ...shared,
    present: (request) => presentedBy(keys, (current) => signRequest(request, current, scope, nowMs())),
    refused: (credential, { status, headers }) => {
      const at = headers.findIndex(
        (name, index) => index % 2 === 0 && name.toLowerCase() === 'x-amzn-errortype',
      )
      const isRefusal = status === 403 && at !== -1 && refusals.test(headers[at + 1] ?? '')
      return isRefusal && keys.refused(credential)
    },
  }
}
