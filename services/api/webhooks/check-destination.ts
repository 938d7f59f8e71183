import { isAllowed, portOf, refuseDestination, type AllowedAddresses } from '#runtime/destination-allow.ts'
import { hostOf, isPublicAddress, type OutboundPolicy } from '#runtime/outbound-address.ts'
import type { ResolveHost } from '#runtime/resolve-host.ts'
import {
  credentialsSchemaOf,
  settingsSchemaOf,
  type Address,
  type DestinationKind,
} from '#schemas/destinations.ts'
import { eventDataFields } from '#schemas/event-data.ts'
import { unknownFields } from '#schemas/destination-template.ts'
import { invalidInput, type FieldError } from '#http/problem.ts'

export interface CheckedDestination {
  settings: Record<string, unknown>
  credentials: Record<string, unknown>
}

/**
 * The settings and credentials of a kind with their defaults. Credentials that are undefined are those that
 * are kept. Throws 422 that names each wrong field.
 */
export type CheckDestination = (
  kind: DestinationKind,
  given: { settings: unknown; credentials: unknown },
) => Promise<CheckedDestination>

export function createCheckDestination(
  policy: OutboundPolicy,
  allowed: AllowedAddresses,
  resolveHost: ResolveHost,
): CheckDestination {
  return async (kind, given) => {
    const settings = settingsSchemaOf(kind).safeParse(given.settings)
    const credentials =
      given.credentials === undefined ? kept : credentialsSchemaOf(kind).safeParse(given.credentials)
    const errors = [...faultsOf('settings', settings.error), ...faultsOf('credentials', credentials.error)]
    if (!settings.success || !credentials.success) throw invalidInput(errors)
    const checked = { settings: settings.data, credentials: credentials.data }
    const fault =
      (await faultOfAddress(checked, { policy, allowed, resolveHost })) ?? faultOfTemplate(checked.settings)
    if (fault !== undefined) throw invalidInput([fault])
    return checked
  }
}

const kept = { success: true, data: {}, error: undefined } as const

interface Issues {
  issues: readonly { path: readonly PropertyKey[]; message: string }[]
}

function faultsOf(part: string, error: Issues | undefined): FieldError[] {
  return (error?.issues ?? []).map(({ path, message }) => ({
    path: [part, ...path.map(String)].join('.'),
    message,
  }))
}

async function faultOfAddress(
  { settings, credentials }: CheckedDestination,
  {
    policy,
    allowed,
    resolveHost,
  }: { policy: OutboundPolicy; allowed: AllowedAddresses; resolveHost: ResolveHost },
): Promise<FieldError | undefined> {
  const address: Partial<Address> = { ...settings, ...credentials }
  const { url } = address
  const path = url === undefined ? 'settings.host' : 'url' in settings ? 'settings.url' : 'credentials.url'
  const refusal = refuseDestination(address, policy, allowed)
  if (refusal !== undefined) return { path, message: refusal }
  if (url === undefined) return undefined
  const parsed = new URL(url)
  const name = hostOf(parsed.hostname)
  if (policy.insecureHosts.has(name) || isAllowed(allowed, name, portOf(parsed))) return undefined
  const addresses = await resolveHost(name)
  return addresses.every(isPublicAddress)
    ? undefined
    : { path, message: 'must not lead to an internal address' }
}

function faultOfTemplate({ template }: CheckedDestination['settings']): FieldError | undefined {
  if (typeof template !== 'string') return undefined
  const path = 'settings.template'
  try {
    const unknown = unknownFields(template, eventDataFields)
    return unknown.length === 0 ? undefined : { path, message: `names unknown fields: ${unknown.join(', ')}` }
  } catch (error) {
    if (error instanceof SyntaxError) return { path, message: 'must be JSON' }
    throw error
  }
}
