import { isIP } from 'node:net'
import { hostOf, refuseUrl, type OutboundPolicy } from './outbound-address.ts'

/**
 * Addresses that an operator opens for destinations: private ones, and those of mail and syslog servers. Key:
 * `host:port`; value: whether it may be reached without TLS.
 */
export type AllowedAddresses = ReadonlyMap<string, boolean>

/** Reads `host:port` or `plain:host:port`, an IPv6 address in brackets. Throws Error that names the entry. */
export function parseAllowedAddresses(entries: readonly string[]): AllowedAddresses {
  return new Map(
    entries.map((entry) => {
      const match = /^(plain:)?(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})$/.exec(entry)
      const port = Number(match?.[3])
      if (match?.[2] === undefined || port < 1 || port > 65_535)
        throw new Error(`${JSON.stringify(entry)} is not host:port or plain:host:port`)
      return [addressOf(match[2], port), match[1] !== undefined]
    }),
  )
}

export function isAllowed(allowed: AllowedAddresses, host: string, port: number): boolean {
  return allowed.has(addressOf(host, port))
}

/** The port of a URL; where it names none, its protocol's. */
export function portOf({ protocol, port }: { protocol: string; port: string }): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}

/** Why a mail or syslog server may not be reached; undefined: it may. */
export function refuseAddress(
  { host, port, isTls }: { host: string; port: number; isTls: boolean },
  allowed: AllowedAddresses,
): string | undefined {
  const mayBePlain = allowed.get(addressOf(host, port))
  if (mayBePlain === undefined) return 'is not among the addresses of DESTINATION_ALLOW'
  if (!isTls && !mayBePlain) return 'needs TLS: DESTINATION_ALLOW does not list it as plain:host:port'
  return undefined
}

/**
 * Why an HTTP destination may not be reached; undefined: it may. Public addresses need HTTPS and no entry.
 */
export function refuseDestinationUrl(
  url: string,
  policy: OutboundPolicy,
  allowed: AllowedAddresses,
): string | undefined {
  if (!URL.canParse(url)) return 'is not a URL'
  const parsed = new URL(url)
  const { protocol, hostname } = parsed
  const mayBePlain = allowed.get(addressOf(hostname, portOf(parsed)))
  if (mayBePlain === undefined) return refuseUrl(url, policy)
  if (protocol !== 'https:' && !mayBePlain)
    return 'must start with https://: DESTINATION_ALLOW does not list it as plain:host:port'
  return refuseUrl(url, { ...policy, insecureHosts: new Set([hostOf(hostname)]) })
}

/** Where a destination is: a URL, or the host and port of a server. */
interface DestinationAddress {
  url: string
  host: string
  port: number
  /** `false` and `none`: without TLS. */
  tls: boolean | string
}

/** Why a destination may not be reached, whatever its kind; undefined: it may, or it names no address. */
export function refuseDestination(
  { url, host, port, tls }: Partial<DestinationAddress>,
  policy: OutboundPolicy,
  allowed: AllowedAddresses,
): string | undefined {
  if (url !== undefined) return refuseDestinationUrl(url, policy, allowed)
  if (host === undefined || port === undefined) return undefined
  return refuseAddress({ host, port, isTls: tls !== false && tls !== 'none' }, allowed)
}

function addressOf(host: string, port: number): string {
  const plain = hostOf(host)
  return isIP(plain) === 6 ? `[${plain}]:${port}` : `${plain}:${port}`
}
