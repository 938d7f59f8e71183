import { Resolver } from 'node:dns/promises'
import { systemClock } from './clock.ts'

/** Every address of a host, as text. Rejects when it has none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>

/** Wait for the other address family once one has answered: some name servers drop IPv6 queries. */
const otherKindMs = 300

/**
 * Resolves by DNS directly, in two tries. The system's resolver uses a pool of four threads, which a few
 * hanging names would block for everyone. `servers`: absent, the system's.
 */
export function createDnsResolver(timeoutMs: number, servers?: readonly string[]): ResolveHost {
  return async (host) => {
    const resolver = new Resolver({ timeout: timeoutMs, tries: 2 })
    if (servers !== undefined) resolver.setServers(servers)
    const addresses: (readonly string[])[] = []
    const asked = [resolver.resolve4(host), resolver.resolve6(host)].map(async (answer, kind) => {
      addresses[kind] = await answer
    })
    const all = Promise.allSettled(asked)
    try {
      await Promise.any(asked)
    } catch (error) {
      throw (error as AggregateError).errors[0]
    }
    const patience = new AbortController()
    await Promise.race([all, systemClock.sleep(otherKindMs, patience.signal)])
    patience.abort()
    resolver.cancel()
    return addresses.flat()
  }
}
