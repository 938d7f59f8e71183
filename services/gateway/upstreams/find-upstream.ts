/** What an upstream takes; a request must match all that is given. */
export interface UpstreamMatch {
  hosts: readonly string[] | undefined
  port: number | undefined
  prefix: string | undefined
}

/** The target of a request: its Host header, the gateway's port that it came to, its path with its query. */
export interface RequestTarget {
  host: string | undefined
  port: number | undefined
  path: string
}

/** The first upstream that takes the request. */
export function findUpstream<T extends { match: UpstreamMatch }>(
  upstreams: readonly T[],
  target: RequestTarget,
): T | undefined {
  return upstreams.find(
    ({ match: { hosts, port, prefix } }) =>
      (hosts === undefined || isNamed(target.host, hosts)) &&
      (port === undefined || port === target.port) &&
      (prefix === undefined || isBelow(target.path, prefix)),
  )
}

function isNamed(host: string | undefined, hosts: readonly string[]): boolean {
  return host !== undefined && hosts.includes(host.replace(/:\d*$/, '').toLowerCase())
}

function isBelow(path: string, prefix: string): boolean {
  if (!path.startsWith(prefix)) return false
  const next = path.at(prefix.length)
  return next === undefined || next === '/' || next === '?'
}

/** The path as the upstream gets it. */
export function withoutPrefix(path: string, { prefix }: UpstreamMatch): string {
  if (prefix === undefined) return path
  const rest = path.slice(prefix.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}
