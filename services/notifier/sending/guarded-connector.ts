import { Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { getCACertificates } from 'node:tls'
import { buildConnector } from 'undici'
import { hostOf, isPublicAddress, type OutboundPolicy } from '#runtime/outbound-address.ts'

/** The connection was refused by us: `message` says why. */
export class AddressRefused extends Error {
  readonly code = 'ADDRESS_REFUSED'
}

/** Every address of a host, as text. Rejects when it has none. */
export type ResolveHost = (host: string) => Promise<string[]>

export interface ConnectorOptions {
  policy: OutboundPolicy
  /** Certificate authorities besides the usual ones, PEM. */
  ca: string | undefined
  timeoutMs: number
  resolveHost: ResolveHost
}

/**
 * Connects to public addresses only, whatever a name leads to at that moment: addresses are checked here, between resolving
 * and connecting, and the one that was checked is the one connected to.
 */
export function createGuardedConnector(options: ConnectorOptions): buildConnector.connector {
  const shared = {
    timeout: options.timeoutMs,
    ...(options.ca === undefined ? {} : { ca: [...getCACertificates('default'), options.ca] }),
  }
  const connectInsecurely = buildConnector(shared)
  const connectGuarded = buildConnector({ ...shared, lookup: lookupPublic(options.resolveHost) })
  return (target, callback) => {
    const host = hostOf(target.hostname)
    if (options.policy.insecureHosts.has(host)) {
      connectInsecurely(target, callback)
    } else if (isIP(host) !== 0 && !isPublicAddress(host)) {
      // No name is looked up for a literal address.
      callback(new AddressRefused('the address is not a public one'), null)
    } else {
      connectGuarded(target, callback)
    }
  }
}

/**
 * Resolves by DNS itself: the system's resolver works on a pool of four threads, which a few names that hang would take from
 * everybody.
 */
export function createDnsResolver(timeoutMs: number): ResolveHost {
  return async (host) => {
    const resolver = new Resolver({ timeout: timeoutMs, tries: 2 })
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    const failure = answers.find((answer) => answer.status === 'rejected')
    if (addresses.length === 0) throw failure?.reason
    return addresses
  }
}

function lookupPublic(resolveHost: ResolveHost): LookupFunction {
  return (hostname, lookupOptions, callback) => {
    resolveHost(hostname).then(
      (addresses) => {
        // What is not public is left out rather than fatal: networks with NAT64 give such addresses beside good ones.
        const usable = addresses
          .filter(isPublicAddress)
          .map((address) => ({ address, family: isIP(address) }))
          .filter(
            ({ family }) => ![4, 6].includes(Number(lookupOptions.family)) || family === lookupOptions.family,
          )
        const first = usable[0]
        if (first === undefined) callback(new AddressRefused('the host has no public address'), '')
        else if (lookupOptions.all === true) callback(null, usable)
        else callback(null, first.address, first.family)
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, ''),
    )
  }
}
