import { createPrivateKey, sign, type KeyObject } from 'node:crypto'
import type { Dispatcher } from 'undici'
import { z } from 'zod'
import { httpUrl } from '#runtime/config-addresses.ts'
import { requestToken } from '../request-token.ts'
import type { AccessToken } from '../upstream-credentials.ts'

/** What Google's clients ask for where nothing narrower is configured. */
export const cloudScope = 'https://www.googleapis.com/auth/cloud-platform'

/** The file that Google Cloud makes for a service account. */
const accountSchema = z.object({
  type: z.literal('service_account'),
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
  token_uri: httpUrl(),
})

export type ServiceAccount = z.output<typeof accountSchema>

/** Reads such a file. Throws an error that quotes nothing of it. */
export function readServiceAccount(text: string): ServiceAccount {
  const account = accountSchema.safeParse(jsonOf(text))
  if (!account.success) {
    const fields = account.error.issues.map(({ path }) => path.join('.') || 'the object')
    throw new Error(`is not the JSON of a Google service account: ${fields.join(', ')}`)
  }
  try {
    createPrivateKey(account.data.private_key)
  } catch (error) {
    throw new Error('private_key of the service account is no PEM key', { cause: error })
  }
  return account.data
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The text of the error would quote the file.
    return undefined
  }
}

const assertionSeconds = 3_600
const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** Fetches tokens for a signed assertion (RFC 7523). `nowMs` is the time of day. */
export function createServiceAccountTokens(
  account: ServiceAccount,
  { scope, dispatcher, nowMs }: { scope: string; dispatcher: Dispatcher; nowMs: () => number },
): () => Promise<AccessToken> {
  const key = createPrivateKey(account.private_key)
  return () => {
    const assertion = signAssertion(account, key, scope, Math.floor(nowMs() / 1_000))
    return requestToken(account.token_uri, { grant_type: grantType, assertion }, dispatcher)
  }
}

function signAssertion(account: ServiceAccount, key: KeyObject, scope: string, seconds: number): string {
  const { client_email: iss, private_key_id: kid, token_uri: aud } = account
  const head = partOf({ alg: 'RS256', typ: 'JWT', kid })
  const claims = partOf({ iss, scope, aud, iat: seconds, exp: seconds + assertionSeconds })
  const signed = `${head}.${claims}`
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`
}

function partOf(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
