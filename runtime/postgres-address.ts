import type { PostgresConfig } from './config.ts'

export type PostgresAddress = Pick<PostgresConfig, 'DATABASE_URL' | 'DATABASE_SSL_CA'>

/** Where a client of pg connects to: with TLS, verified, where an authority is configured. */
export function connectionOf({ DATABASE_URL: url, DATABASE_SSL_CA: ca }: PostgresAddress): {
  connectionString: string
  ssl?: { ca: string }
} {
  return { connectionString: withPlainHost(url), ...(ca === undefined ? {} : { ssl: { ca } }) }
}

/** pg looks up an IPv6 address with its brackets, as a name. Its parameter `host` takes the address without them. */
function withPlainHost(url: string): string {
  const [, address] = /^[^/?#]*\/\/(?:[^/?#]*@)?\[([^\]]*)\]/.exec(url) ?? []
  if (address === undefined || /[?&]host=/.test(url)) return url
  const [before = '', fragment] = url.split('#', 2)
  const added = `${before}${before.includes('?') ? '&' : '?'}host=${address}`
  return fragment === undefined ? added : `${added}#${fragment}`
}
