import type { Dispatcher } from 'undici'
import type { Log } from '#runtime/log.ts'
import type { GatewayConfig } from '../config.ts'
import type { OwnProject } from '../projects/own-project.ts'
import { createSharedBudget, type SharedBudget } from '../recording/capture-budget.ts'
import { createAuthorizer, type Authorizer, type Caller } from './authorize.ts'
import { createProjectKeys, resolveByApi } from './project-keys.ts'

/** Accepts keys of the gateway or of projects, by GATEWAY_AUTH. */
export function createCallers(
  config: GatewayConfig,
  dispatcher: Dispatcher,
  { own, log, now }: { own: OwnProject | undefined; log: Log; now: () => number },
): Authorizer {
  if (config.GATEWAY_AUTH === 'proxy_keys') {
    // Records are treated as zero-retention until the key's project is known (recording/without-bodies.ts).
    const unknown: Caller = { projectId: undefined, isEphemeral: true }
    return createAuthorizer(config.PROXY_API_KEY ?? [], () => own?.settings() ?? unknown)
  }
  const resolve = resolveByApi(config.API_BACKEND_URL, config.INTERNAL_API_SECRET ?? '', dispatcher)
  return createProjectKeys({ resolve, now, log })
}

/** Whether requests other than model calls are forwarded; always with a single tenant. */
export function forwardsOther(
  { GATEWAY_AUTH, GATEWAY_FORWARD_OTHER }: GatewayConfig,
  log: Pick<Log, 'warn'>,
): boolean {
  if (GATEWAY_AUTH === 'proxy_keys') return true
  if (GATEWAY_FORWARD_OTHER)
    log.warn('GATEWAY_FORWARD_OTHER is set: projects can access what others stored at the provider')
  return GATEWAY_FORWARD_OTHER
}

/** A memory budget for captured or for buffered bodies. */
export function createBudget(config: GatewayConfig): SharedBudget {
  return createSharedBudget(config.CAPTURE_TOTAL_MAX_BYTES, config.GATEWAY_AUTH === 'project_keys')
}
