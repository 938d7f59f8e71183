import type { Request } from 'express'

/**
 * Where a request comes from. A server that listens on `::` sees IPv4 as `::ffff:192.0.2.1`: it stays
 * 192.0.2.1 in throttles, logins and logs.
 */
export function clientAddress({ ip }: Pick<Request, 'ip'>): string | undefined {
  return ip?.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '')
}
