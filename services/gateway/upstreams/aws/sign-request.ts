import { createHmac, hash } from 'node:crypto'
import type { UnsignedRequest } from '../upstream-credentials.ts'

/** Keys of AWS. */
export interface SigningKeys {
  accessKeyId: string
  secretAccessKey: string
  /** Of temporary keys. */
  sessionToken: string | undefined
}

export interface SigningScope {
  region: string
  service: string
}

/** Headers of the application that a new signature replaces. */
export const signatureHeaders = [
  'authorization',
  'x-amz-date',
  'x-amz-security-token',
  'x-amz-content-sha256',
] as const

const algorithm = 'AWS4-HMAC-SHA256'

/**
 * The headers that sign a request with AWS Signature Version 4. It signs what goes over the wire: host, path,
 * query, the type and `x-amz-*` headers, and the body, which must be in memory.
 */
export function signRequest(
  request: UnsignedRequest,
  keys: SigningKeys,
  { region, service }: SigningScope,
  atMs: number,
): string[] {
  const time = new Date(atMs).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const day = time.slice(0, 8)
  const own = ['X-Amz-Date', time]
  if (keys.sessionToken !== undefined) own.push('X-Amz-Security-Token', keys.sessionToken)
  const scope = `${day}/${region}/${service}/aws4_request`
  const signed = signedHeaders(request, own)
  const names = signed.map(([name]) => name).join(';')
  const toSign = [algorithm, time, scope, hash('sha256', bytesOf(canonicalForm(request, signed)), 'hex')]
  const keyOf = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(
    keyOf,
    `AWS4${keys.secretAccessKey}`,
  )
  const signature = createHmac('sha256', key).update(toSign.join('\n')).digest('hex')
  const parts = [
    `Credential=${keys.accessKeyId}/${scope}`,
    `SignedHeaders=${names}`,
    `Signature=${signature}`,
  ]
  return [...own, 'Authorization', `${algorithm} ${parts.join(', ')}`]
}

function canonicalForm(
  { method, target, body }: UnsignedRequest,
  signed: readonly (readonly [string, string])[],
): string {
  if (body !== null && !Buffer.isBuffer(body)) throw new Error('a streamed body cannot be signed')
  const queryAt = target.indexOf('?')
  const path = queryAt === -1 ? target : target.slice(0, queryAt)
  return [
    method,
    canonicalPath(path),
    canonicalQuery(queryAt === -1 ? '' : target.slice(queryAt + 1)),
    ...signed.map(([name, value]) => `${name}:${value}`),
    '',
    signed.map(([name]) => name).join(';'),
    hash('sha256', body ?? '', 'hex'),
  ].join('\n')
}

/** Host, type and all of `x-amz-*`, in order; values of one name joined. */
function signedHeaders({ host, headers }: UnsignedRequest, own: readonly string[]): [string, string][] {
  const values = new Map([['host', host]])
  const all = [...headers, ...own]
  for (let at = 0; at < all.length; at += 2) {
    const name = (all[at] ?? '').toLowerCase()
    if (name !== 'content-type' && !name.startsWith('x-amz-')) continue
    const value = (all[at + 1] ?? '').trim().replaceAll(/[ \t]+/g, ' ')
    const before = values.get(name)
    values.set(name, before === undefined ? value : `${before},${value}`)
  }
  return [...values].toSorted(([a], [b]) => (a < b ? -1 : 1))
}

/** Encoded once more than on the wire, without dot segments and empty ones. */
function canonicalPath(path: string): string {
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(encode(segment))
  }
  const end = segments.length > 0 && /\/\.{0,2}$/.test(path) ? '/' : ''
  return `/${segments.join('/')}${end}`
}

function canonicalQuery(query: string): string {
  return query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.indexOf('=')
      const [name, value] = at === -1 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
      return [encode(decode(name)), encode(decode(value))] as const
    })
    .toSorted(([a, first], [b, second]) => (a === b ? compare(first, second) : compare(a, b)))
    .map((pair) => pair.join('='))
    .join('&')
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

/** A character stands for a byte, as in a head on the wire. */
function encode(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9\-._~]/g, (byte) => {
    return `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
  })
}

function decode(text: string): string {
  return text
    .replaceAll('+', ' ')
    .replaceAll(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

function bytesOf(head: string): Buffer {
  return Buffer.from(head, 'latin1')
}
