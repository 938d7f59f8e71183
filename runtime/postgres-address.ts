import type { PostgresConfig } from './config.ts'

export type PostgresAddress = Pick<PostgresConfig, 'DATABASE_URL' | 'DATABASE_SSL_CA'>

/** Where a pg client connects: over verified TLS where an authority is configured. */
export function connectionOf({ DATABASE_URL: url, DATABASE_SSL_CA: ca }: PostgresAddress): {
  connectionString: string
  ssl?: { ca: string }
} {
  return { connectionString: withPlainHost(url), ...(ca === undefined ? {} : { ssl: { ca } }) }
}

/**
 * Moves an IPv6 host into the parameter `host`, which takes precedence and has no brackets. pg resolves a
 * bracketed address as a name, and refuses a URL that has one beside a bare %.
 */
function withPlainHost(url: string): string {
  const [before, address] = /^([^/?#]*\/\/(?:[^/?#]*@)?)\[([^\]]*)\]/.exec(url)?.slice(1) ?? []
  if (before === undefined || address === undefined) return url
  const [rest = '', fragment] = url.slice(before.length + address.length + '[]'.length).split('#', 2)
  const host = /[?&]host=/.test(rest) ? '' : `${rest.includes('?') ? '&' : '?'}host=${address}`
  return `${before}ipv6${rest}${host}${fragment === undefined ? '' : `#${fragment}`}`
}
