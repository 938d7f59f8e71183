import { isIPv6 } from 'node:net'
import { z } from 'zod'

/** Requires http or https: `host:8081` alone is a URL whose scheme is `host`. */
export function httpUrl() {
  return z.url({ protocol: /^https?$/, error: 'expected http:// or https://, and a host' })
}

/** An address to which paths are appended. */
export function pathsBehind() {
  return httpUrl().refine(
    (url) => !/[?#]/.test(url),
    'must not hold a query or a fragment: paths are put behind it',
  )
}

/** The same without a trailing slash. Credentials are refused, because these clients would not send them. */
export function baseUrl(credentials = 'must not hold a user name or a password') {
  return pathsBehind()
    .refine((url) => !/^[a-z]+:\/\/[^/?#]*@/i.test(url), credentials)
    .transform((url) => url.replace(/\/+$/, ''))
}

export function brokerAddress() {
  return z.string().refine((text) => {
    const [, host = '', address, digits] = /^([^\s:[\]]+|\[(.+)\]):(\d+)$/.exec(text) ?? []
    const port = Number(digits)
    return host !== '' && (address === undefined || isIPv6(address)) && port >= 1 && port <= 65_535
  }, 'expected host:port, or [address]:port for IPv6')
}

/**
 * Requires percent-encoding in a password. A client that decodes it throws at its first use otherwise,
 * without naming the variable. Only pg accepts a % that no two digits follow.
 */
export function withCredentials(url: z.ZodURL, { takesBarePercent = false } = {}) {
  return url.refine((text) => {
    if (!URL.canParse(text)) return true
    const { username, password } = new URL(text)
    const written = `${username}:${password}`
    return isDecodable(takesBarePercent ? written.replace(/%(?![0-9a-f]{2})/gi, '%25') : written)
  }, 'a % in the user name or the password is written %25')
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch (error) {
    if (error instanceof URIError) return false
    throw error
  }
}

/** The files that a Postgres URL names, which pg reads for each connection. */
export function tlsFilesOf(url: string): { parameter: string; path: string }[] {
  if (!URL.canParse(url)) return []
  const named = new URL(url).searchParams
  return ['sslrootcert', 'sslcert', 'sslkey'].flatMap((parameter) => {
    const path = named.get(parameter) ?? ''
    return path === '' ? [] : [{ parameter, path }]
  })
}

/** An address to listen on. */
export function listenHost(what: string) {
  return z
    .string()
    .default('::')
    .describe(`${what} \`::\`: every address, of IPv6 and IPv4; 0.0.0.0 where there is no IPv6.`)
}

/** The prefix of the roles in runtime/database-roles.ts, which statements name without quotes. */
export function rolePrefix() {
  return z
    .string()
    .regex(/^(?:[a-z][a-z0-9_]*)?$/, 'expected small letters, digits and _ only, a letter first')
    .max(40, 'expected at most 40 characters: Postgres cuts names at 63')
    .default('')
    .describe(
      'Goes before the roles sluice_api and sluice_operator, which belong to the whole server: one for each installation on a server that several share (docs/operations.md). The same for scripts/migrate and all services.',
    )
}
