import { hash, timingSafeEqual } from 'node:crypto'

/** Whether an `Authorization` header carries one of the keys. */
export type Authorizer = (authorization: string | undefined) => boolean

/** Every key is compared with every call, in constant time: how long it takes tells nothing of any of them. */
export function createAuthorizer(keys: readonly string[]): Authorizer {
  const digests = keys.map(digestOf)
  return (authorization) => {
    const token = bearerToken(authorization)
    if (token === undefined) return false
    const given = digestOf(token)
    let known = false
    for (const digest of digests) known = timingSafeEqual(digest, given) || known
    return known
  }
}

function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(.+)$/i.exec(authorization ?? '')?.[1]?.trimEnd()
}

function digestOf(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
