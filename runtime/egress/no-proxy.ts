import ipaddr from 'ipaddr.js'
import { hostOf, isLoopback } from '../outbound-address.ts'

/** Whether a host, by the name or number of its URL, is reached without the egress proxy. */
export type NoProxy = (host: string, port: number) => boolean

/** Throws Error that names the entry. */
export function parseNoProxy(entries: readonly string[]): NoProxy {
  const rules = entries.map(parseEntry)
  return (given, port) => {
    const host = hostOf(given)
    // Loopback of the proxy is another machine's.
    return isLoopback(host) || rules.some((rule) => rule(host, port))
  }
}

function parseEntry(entry: string): NoProxy {
  if (entry === '*') return () => true
  if (ipaddr.isValidCIDR(entry)) {
    const range = ipaddr.parseCIDR(entry)
    return (host) => {
      if (!ipaddr.isValid(host)) return false
      const address = ipaddr.process(host)
      return address.kind() === range[0].kind() && address.match(range)
    }
  }
  const { name, port: only } = splitPort(entry)
  const matches = hostMatcher(name)
  if (matches === undefined)
    throw new Error(`${JSON.stringify(entry)} is no host, suffix, address, CIDR or *`)
  return (host, port) => (only === undefined || only === port) && matches(host)
}

function splitPort(entry: string): { name: string; port: number | undefined } {
  const [, name = entry, digits] = /^(\[.+\]|[^:]+):(\d{1,5})$/.exec(entry) ?? []
  return { name, port: digits === undefined ? undefined : Number(digits) }
}

function hostMatcher(name: string): ((host: string) => boolean) | undefined {
  const host = hostOf(name)
  if (ipaddr.isValid(host)) {
    const wanted = ipaddr.process(host).toString()
    return (other) => ipaddr.isValid(other) && ipaddr.process(other).toString() === wanted
  }
  const [, star = '', rest = ''] = /^(\*?\.)?([a-z0-9_-]+(?:\.[a-z0-9_-]+)*)$/.exec(host) ?? []
  if (rest === '') return undefined
  return star === '' ? (other) => other === rest : (other) => other.endsWith(`.${rest}`)
}
