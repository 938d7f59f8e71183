import type { Dispatcher } from 'undici'
import type { Log } from '#runtime/log.ts'
import type { GatewayConfig } from '../config.ts'
import type { OwnProject } from '../projects/own-project.ts'
import { createAuthorizer, type Authorizer, type Caller } from './authorize.ts'
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
