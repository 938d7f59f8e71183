import { Resolver } from 'node:dns/promises'

/** Every address of a host, as text. Rejects when it has none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>

/**
 * Resolves by DNS itself, in two tries: the system's resolver works on a pool of four threads, which a few names that hang would
 * take from everybody.
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
