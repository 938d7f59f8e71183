import type { Request } from 'express'

/** The client's address. A server on `::` sees IPv4 as `::ffff:192.0.2.1`; this returns 192.0.2.1. */
export function clientAddress({ ip }: Pick<Request, 'ip'>): string | undefined {
  return ip?.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '')
}
