import { isIP, type LookupFunction } from 'node:net'
import { createSecureContext, getCACertificates } from 'node:tls'
import { buildConnector } from 'undici'
import { isAllowed, portOf, type AllowedAddresses } from '#runtime/destination-allow.ts'
import { createConnectThrough } from '#runtime/egress/egress-connector.ts'
import type { EgressConfig } from '#runtime/egress/egress-fields.ts'
import { hostOf, isPublicAddress, type OutboundPolicy } from '#runtime/outbound-address.ts'
import type { ResolveHost } from '#runtime/resolve-host.ts'

/** We refused the connection; `message` says why. */
export class AddressRefused extends Error {
  readonly code = 'ADDRESS_REFUSED'
}

export interface ConnectorOptions {
  policy: OutboundPolicy
  /** Certificate authorities besides the public ones, PEM. */
  ca?: string | undefined
  timeoutMs: number
  resolveHost: ResolveHost
  /** Private addresses that an operator lists for destinations. */
  allowed?: AllowedAddresses
  egress?: EgressConfig & { WEBHOOK_PROXY_RESOLVES: boolean }
}

/**
 * Connects to public addresses only. Addresses are checked between resolving and connecting, and the checked
 * address is the one connected to: a name that resolves differently later changes nothing. An egress proxy is
 * told that address too.
 */
export function createGuardedConnector(options: ConnectorOptions): buildConnector.connector {
  const shared = {
    timeout: options.timeoutMs,
    // One for all connections: reading some 250 authorities takes 9 ms.
    secureContext: createSecureContext(
      options.ca === undefined ? {} : { ca: [...getCACertificates('default'), options.ca] },
    ),
  }
  const connectInsecurely = buildConnector(shared)
  const connectGuarded = buildConnector({ ...shared, lookup: lookupPublic(options.resolveHost) })
  const { egress } = options
  const through = egress && createConnectThrough(egress, shared)
  return (target, callback) => {
    const host = hostOf(target.hostname)
    const port = portOf(target)
    const isListed = isAllowed(options.allowed ?? none, host, port) || options.policy.insecureHosts.has(host)
    const proxied = egress?.NO_PROXY(host, port) === true ? undefined : through
    if (!isListed && isIP(host) !== 0 && !isPublicAddress(host)) {
      // A literal address involves no lookup.
      callback(new AddressRefused('the address is not a public one'), null)
    } else if (proxied === undefined) {
      const connect = isListed ? connectInsecurely : connectGuarded
      connect(target, callback)
    } else if (isListed || isIP(host) !== 0 || egress?.WEBHOOK_PROXY_RESOLVES === true) {
      proxied(target, host, callback)
    } else {
      resolvePublic(options.resolveHost, host).then(
        ([first]) => {
          if (first === undefined) callback(noPublicAddress(), null)
          else proxied(target, first, callback)
        },
        (error: unknown) => callback(error as Error, null),
      )
    }
  }
}

const none: AllowedAddresses = new Map()

/** Private addresses are skipped, not fatal: networks with NAT64 return them beside good ones. */
async function resolvePublic(resolveHost: ResolveHost, host: string): Promise<string[]> {
  const addresses = await resolveHost(host)
  return addresses.filter(isPublicAddress)
}

function noPublicAddress(): AddressRefused {
  return new AddressRefused('the host has no public address')
}

function lookupPublic(resolveHost: ResolveHost): LookupFunction {
  return (hostname, lookupOptions, callback) => {
    resolvePublic(resolveHost, hostname).then(
      (addresses) => {
        const usable = addresses
          .map((address) => ({ address, family: isIP(address) }))
          .filter(
            ({ family }) => ![4, 6].includes(Number(lookupOptions.family)) || family === lookupOptions.family,
          )
        const first = usable[0]
        if (first === undefined) callback(noPublicAddress(), '')
        else if (lookupOptions.all === true) callback(null, usable)
        else callback(null, first.address, first.family)
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, ''),
    )
  }
}
