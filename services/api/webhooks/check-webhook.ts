import type { Clock } from '#runtime/clock.ts'
import { hostOf, isPublicAddress, refuseUrl, type OutboundPolicy } from '#runtime/outbound-address.ts'
import { createDnsResolver, type ResolveHost } from '#runtime/resolve-host.ts'
import { invalidInput, type FieldError } from '#http/problem.ts'
import { faultOfExpression } from './check-expression.ts'

interface Checked {
  url?: string | undefined
  filter_expression?: string | null | undefined
}

/**
 * Throws 422 for a webhook that the notifier could not or must not deliver to. It checks addresses again when
 * it connects.
 */
export type CheckWebhook = (webhook: Checked) => Promise<void>

export function createCheckWebhook(policy: OutboundPolicy, resolveHost: ResolveHost): CheckWebhook {
  return async ({ url, filter_expression: expression }) => {
    const errors: FieldError[] = []
    const urlFault = url === undefined ? undefined : await faultOfUrl(url, policy, resolveHost)
    if (urlFault !== undefined) errors.push({ path: 'url', message: urlFault })
    const expressionFault = typeof expression === 'string' ? faultOfExpression(expression) : undefined
    if (expressionFault !== undefined) errors.push({ path: 'filter_expression', message: expressionFault })
    if (errors.length > 0) throw invalidInput(errors)
  }
}

async function faultOfUrl(
  url: string,
  policy: OutboundPolicy,
  resolveHost: ResolveHost,
): Promise<string | undefined> {
  const fault = refuseUrl(url, policy)
  if (fault !== undefined) return fault
  const host = hostOf(new URL(url).hostname)
  if (policy.insecureHosts.has(host)) return undefined
  const addresses = await resolveHost(host)
  return addresses.every(isPublicAddress) ? undefined : 'must not lead to an internal address'
}

const resolveTimeoutMs = 2_000
/** Timeout of the first try. With the second, which takes longer, it adds up to the time limit. */
const firstTryMs = 500

/**
 * Resolves by DNS. A host that does not resolve in time has no addresses and may be saved: it may exist
 * later. So may all where only the egress proxy resolves names.
 */
export function createResolveHost(clock: Clock, proxyResolves = false): ResolveHost {
  if (proxyResolves) return () => Promise.resolve([])
  const resolve = createDnsResolver(firstTryMs)
  return async (host) => {
    const timeout = new AbortController()
    const late = clock.sleep(resolveTimeoutMs, timeout.signal).then(() => [])
    const addresses = await Promise.race([resolve(host).catch(() => []), late])
    timeout.abort()
    return addresses
  }
}
