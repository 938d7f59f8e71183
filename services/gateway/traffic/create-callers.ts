import type { Dispatcher } from 'undici'
import type { Log } from '#runtime/log.ts'
import type { GatewayConfig } from '../config.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { OwnProject } from '../projects/own-project.ts'
import { createSharedBudget, type SharedBudget } from '../recording/capture-budget.ts'
import { createAuthorizer, type Authorizer, type Caller } from './authorize.ts'
import { createCallQueue, type CallQueue } from './call-queue.ts'
import { createProjectKeys, resolveByApi } from './project-keys.ts'

/** Who may call: whoever has a key of the gateway's own, or of a project. */
export function createCallers(
  config: GatewayConfig,
  dispatcher: Dispatcher,
  { own, log, now }: { own: OwnProject | undefined; log: Log; now: () => number },
): Authorizer {
  if (config.GATEWAY_AUTH === 'proxy_keys') {
    // Until the API service says whose the key is, its records wait as if no content were kept (recording/without-bodies.ts).
    const unknown: Caller = { projectId: undefined, isEphemeral: true }
    return createAuthorizer(config.PROXY_API_KEY ?? [], () => own?.settings() ?? unknown)
  }
  const resolve = resolveByApi(config.API_BACKEND_URL, config.INTERNAL_API_SECRET ?? '', dispatcher)
  return createProjectKeys({ resolve, now, log })
}

/** Whether what is no call of a model is forwarded too: always, where there is one tenant. */
export function forwardsOther(
  { GATEWAY_AUTH, GATEWAY_FORWARD_OTHER }: GatewayConfig,
  log: Pick<Log, 'warn'>,
): boolean {
  if (GATEWAY_AUTH === 'proxy_keys') return true
  if (GATEWAY_FORWARD_OTHER)
    log.warn('GATEWAY_FORWARD_OTHER is set: projects reach what others have stored at the provider')
  return GATEWAY_FORWARD_OTHER
}

/** Whether callers are of several projects, which then share what there is. */
const isShared = ({ GATEWAY_AUTH }: GatewayConfig) => GATEWAY_AUTH === 'project_keys'

/** For bodies: those that are captured, or those that are gathered. */
export function createBudget(config: GatewayConfig): SharedBudget {
  return createSharedBudget(config.CAPTURE_TOTAL_MAX_BYTES, isShared(config))
}

/** For connections to the provider. */
export function createQueue(config: GatewayConfig, metrics: GatewayMetrics): CallQueue {
  return createCallQueue({
    maxRunning: config.UPSTREAM_CONNECTIONS,
    maxWaiting: config.UPSTREAM_MAX_WAITING,
    isShared: isShared(config),
    onWaiting: (count) => metrics.waiting(count),
  })
}
