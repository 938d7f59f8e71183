import ipaddr from 'ipaddr.js'

/** Where requests may go whose address an outsider configured. */
export interface OutboundPolicy {
  /** Hosts in lower case that may use plain HTTP, private addresses and any port. */
  insecureHosts: ReadonlySet<string>
  /** Allowed ports of all other hosts. */
  ports: ReadonlySet<number>
}

const globalUnicast6 = ipaddr.parseCIDR('2000::/3')
/** Public addresses that reach a cloud's own service from every machine there. */
const cloudServices = new Set(['168.63.129.16'])

/**
 * Whether the public Internet is at `address`: not loopback, private, link-local, translated or tunnelled.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (cloudServices.has(parsed.toString())) return false
  if (parsed.range() !== 'unicast') return false
  // Assigned IPv6 only: the library counts unnamed ranges and old forms such as `::127.0.0.1` as unicast.
  return parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast6)
}

/** A URL's host as the policy names it: lower case, no brackets, no final dot, IPv6 in its shortest form. */
export function hostOf(hostname: string): string {
  const host = hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
  const literal = `http://[${host}]`
  return host.includes(':') && URL.canParse(literal) ? new URL(literal).hostname.slice(1, -1) : host
}

/**
 * Why requests may not go to `url`; undefined: they may. Names are not resolved here, because DNS can change:
 * addresses are checked on connecting.
 */
export function refuseUrl(url: string, policy: OutboundPolicy): string | undefined {
  if (!URL.canParse(url)) return 'is not a URL'
  const parsed = new URL(url)
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') return 'must start with https://'
  if (parsed.username !== '' || parsed.password !== '') return 'must not hold a user name or a password'
  const host = hostOf(parsed.hostname)
  if (policy.insecureHosts.has(host)) return undefined
  if (parsed.protocol !== 'https:') return 'must start with https://'
  const port = parsed.port === '' ? 443 : Number(parsed.port)
  if (!policy.ports.has(port)) {
    return `port ${port} is not allowed; allowed: ${[...policy.ports].join(', ')}`
  }
  if (host === 'localhost' || host.endsWith('.localhost')) return 'must not be an internal address'
  if (ipaddr.isValid(host) && !isPublicAddress(host)) return 'must not be an internal address'
  return undefined
}

/**
 * Whether a host, as {@link hostOf} names it, is this machine by name or number. Other names may lead here
 * too.
 */
export function isLoopback(host: string): boolean {
  return ipaddr.isValid(host) ? ipaddr.process(host).range() === 'loopback' : host === 'localhost'
}

/**
 * Why `url` may not be attacked; undefined: its host is loopback or listed. A name that resolves to loopback
 * is refused.
 */
export function refuseTarget(url: string, allowedHosts: ReadonlySet<string>): string | undefined {
  if (!URL.canParse(url)) return 'is not a URL'
  const parsed = new URL(url)
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')
    return 'must start with http:// or https://'
  if (parsed.username !== '' || parsed.password !== '') return 'must not hold a user name or a password'
  const host = hostOf(parsed.hostname)
  return isLoopback(host) || allowedHosts.has(host) ? undefined : `${host} is not among REDTEAM_ALLOWED_HOSTS`
}
