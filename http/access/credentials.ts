import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/**
 * `svc_`, an optional label and `_`, 48 hexadecimal digits. The digits are the secret; the label is for
 * people.
 */
const keyPattern = /^svc_(?:[A-Za-z0-9_-]{1,32}_)?([0-9A-Fa-f]{48})$/

/** SHA-256 of a key's 48 digits in lower case: all that is stored of it. Undefined: not a key. */
export function hashOfKey(key: string): Buffer | undefined {
  const digits = keyPattern.exec(key)?.[1]
  return digits === undefined ? undefined : sha256(digits.toLowerCase())
}

export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/**
 * `X-Service-Key` wins over `Authorization: Bearer` when both are sent (specification 5.1). `takesBasic`: a
 * key may also be the password of Basic, as exporters of traces send it.
 */
type Credentials = { header: 'x-service-key' | 'authorization' | 'basic'; token: string } | undefined

export function readCredentials(headers: IncomingHttpHeaders, takesBasic = false): Credentials {
  const serviceKey = headers['x-service-key']
  if (typeof serviceKey === 'string') return { header: 'x-service-key', token: serviceKey.trim() }
  const token = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  if (token !== undefined) return { header: 'authorization', token }
  const basic = takesBasic
    ? /^Basic +([A-Za-z0-9+/]+=*) *$/i.exec(headers.authorization ?? '')?.[1]
    : undefined
  if (basic === undefined) return undefined
  const pair = Buffer.from(basic, 'base64').toString('utf8')
  return { header: 'basic', token: pair.slice(pair.indexOf(':') + 1) }
}
