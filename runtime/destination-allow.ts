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
  const { protocol, hostname, port } = new URL(url)
  const number = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
  const mayBePlain = allowed.get(addressOf(hostname, number))
  if (mayBePlain === undefined) return refuseUrl(url, policy)
  if (protocol !== 'https:' && !mayBePlain)
    return 'must start with https://: DESTINATION_ALLOW does not list it as plain:host:port'
  return refuseUrl(url, { ...policy, insecureHosts: new Set([hostOf(hostname)]) })
}

function addressOf(host: string, port: number): string {
  const plain = hostOf(host)
  return isIP(plain) === 6 ? `[${plain}]:${port}` : `${plain}:${port}`
}
