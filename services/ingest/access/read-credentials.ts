import type { IncomingHttpHeaders } from 'node:http'

/** `X-Service-Key` wins over `Authorization: Bearer` when both are sent (specification 5.1). */
export type Credentials = { header: 'x-service-key' | 'authorization'; token: string } | undefined

export function readCredentials(headers: IncomingHttpHeaders): Credentials {
  const serviceKey = headers['x-service-key']
  if (typeof serviceKey === 'string') return { header: 'x-service-key', token: serviceKey.trim() }
  const token = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  return token === undefined ? undefined : { header: 'authorization', token }
}
