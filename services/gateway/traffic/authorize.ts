import { hash, timingSafeEqual } from 'node:crypto'

/** Who makes a call. */
export interface Caller {
  /** Undefined: whose key the gateway posts records with, when the API service has not said yet whose it is. */
  projectId: string | undefined
  /** Whether the project keeps no content: the bodies of its records wait on disk for an hour at most. */
  isEphemeral: boolean
}

/** Whose key an `Authorization` header carries; `unavailable` when that cannot be found out now. Never rejects. */
export type Authorizer = (
  authorization: string | undefined,
) => Caller | 'unknown' | Promise<Caller | 'unknown' | 'unavailable'>

/** Every key is compared with every call, in constant time: how long it takes tells nothing of any of them. */
export function createAuthorizer(keys: readonly string[], project: () => Caller): Authorizer {
  const digests = keys.map(digestOf)
  return (authorization) => {
    const token = bearerToken(authorization)
    if (token === undefined) return 'unknown'
    const given = digestOf(token)
    let known = false
    for (const digest of digests) known = timingSafeEqual(digest, given) || known
    return known ? project() : 'unknown'
  }
}

export function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(.+)$/i.exec(authorization ?? '')?.[1]?.trimEnd()
}

function digestOf(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
