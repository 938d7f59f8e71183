import type { Dispatcher } from 'undici'
import type { Log } from '#runtime/log.ts'
import { requestLimitOf } from '#schemas/tiers.ts'
import type { GatewayConfig } from '../config.ts'
import { keyCredential } from '../delivery/credentials.ts'
import { createAskProject } from './ask-project.ts'
import { createOwnProject, type OwnProject } from './own-project.ts'

/** The project of SERVICE_API_KEY. */
export function createOwn(
  config: GatewayConfig,
  backend: Dispatcher,
  parts: { log: Log; now: () => number },
): OwnProject | undefined {
  const credential = keyCredential(config)
  if (credential === undefined) return undefined
  const ask = createAskProject(config.API_BACKEND_URL, credential, backend)
  return createOwnProject({ ...parts, ask, directory: config.SPOOL_DIR, key: credential.value })
}

/**
 * Refuses a limited tier, as only ingest enforces quotas. A project whose tier becomes known or changes later
 * has its records posted to the API.
 */
export function refuseLimitedTier(config: GatewayConfig, own: OwnProject | undefined): void {
  const settings = own?.settings()
  if (config.GATEWAY_DELIVERY === 'api' || settings === undefined || requestLimitOf[settings.tier] === null)
    return
  throw new Error(
    `GATEWAY_DELIVERY=kafka: project ${settings.projectId} is on tier ${settings.tier}, whose limit only the API can keep; set GATEWAY_DELIVERY=api`,
  )
}
