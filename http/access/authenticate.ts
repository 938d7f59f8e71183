import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '#runtime/clock.ts'
import { Problem } from '../problem.ts'
import type { KeyDirectory } from './key-directory.ts'
import { hashOfKey, sha256, readCredentials } from './credentials.ts'
import type { AccessLevel, Principal } from './principal.ts'

/**
 * Identifies the caller. Throws 401 without a valid key, 403 outside the key's scope. `routeName` (`get
 * /api/requests`) decides a user's rights; the pages of the documentation have none.
 */
export type Authenticate = (
  headers: IncomingHttpHeaders,
  level: AccessLevel,
  routeName?: string,
) => Promise<Principal>

interface AuthenticateOptions {
  keys: KeyDirectory
  /** INTERNAL_API_SECRET. Undefined: there is no operator. */
  operatorSecret: string | undefined
  clock: Clock
  /** Called with each key that was accepted. */
  onUse: (keyId: string) => void
}

export function createAuthenticate({
  keys,
  operatorSecret,
  clock,
  onUse,
}: AuthenticateOptions): Authenticate {
  const operatorHash = operatorSecret === undefined ? undefined : sha256(operatorSecret)
  const isOperator = (token: string) =>
    operatorHash !== undefined && timingSafeEqual(sha256(token), operatorHash)

  return async (headers, level) => {
    if (level === 'public') return { kind: 'anonymous' }
    const credentials = readCredentials(headers, level === 'ingest')
    if (credentials === undefined) {
      throw unauthorized('KEY_MISSING', 'send an API key as X-Service-Key or as Authorization: Bearer')
    }
    if (credentials.header === 'authorization' && isOperator(credentials.token)) return { kind: 'operator' }
    const hash = hashOfKey(credentials.token)
    const key = hash === undefined ? undefined : await keys.findKey(hash)
    if (key === undefined) throw unauthorized('KEY_INVALID', 'the API key is not valid or has been revoked')
    if (key.expiresAtMs !== null && key.expiresAtMs <= clock.now()) {
      throw unauthorized('KEY_EXPIRED', `the API key expired at ${new Date(key.expiresAtMs).toISOString()}`)
    }
    if (level === 'operator') {
      throw new Problem(
        403,
        'OPERATOR_ONLY',
        'this route is for the operator: send INTERNAL_API_SECRET as a bearer token',
      )
    }
    if (key.scope !== 'all' && key.scope !== level) {
      throw new Problem(
        403,
        'KEY_SCOPE',
        `this route needs a key of scope ${level}; this key's is ${key.scope}`,
      )
    }
    onUse(key.keyId)
    return { kind: 'key', key }
  }
}

function unauthorized(code: string, detail: string): Problem {
  return new Problem(401, code, detail, { headers: { 'www-authenticate': 'Bearer' } })
}
