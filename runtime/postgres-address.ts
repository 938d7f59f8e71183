import type { PostgresConfig } from './config.ts'

export type PostgresAddress = Pick<PostgresConfig, 'DATABASE_URL' | 'DATABASE_SSL_CA'>

/** Where a client of pg connects to: with TLS, verified, where an authority is configured. */
export function connectionOf({ DATABASE_URL: url, DATABASE_SSL_CA: ca }: PostgresAddress): {
  connectionString: string
  ssl?: { ca: string }
} {
  return { connectionString: withPlainHost(url), ...(ca === undefined ? {} : { ssl: { ca } }) }
}

/**
 * pg looks up an IPv6 address with its brackets, as a name, and takes no URL that has them beside a bare %.
 * Its parameter `host` goes before the host of the URL, and takes the address without them.
 */
function withPlainHost(url: string): string {
  const [before, address] = /^([^/?#]*\/\/(?:[^/?#]*@)?)\[([^\]]*)\]/.exec(url)?.slice(1) ?? []
  if (before === undefined || address === undefined) return url
  const [rest = '', fragment] = url.slice(before.length + address.length + '[]'.length).split('#', 2)
  const host = /[?&]host=/.test(rest) ? '' : `${rest.includes('?') ? '&' : '?'}host=${address}`
  return `${before}ipv6${rest}${host}${fragment === undefined ? '' : `#${fragment}`}`
}
