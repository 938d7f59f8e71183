import type { Pool } from 'pg'
import type { Environment } from '#runtime/config.ts'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import type { Sealer } from '#runtime/sealing.ts'
import type { Tier } from '#schemas/tiers.ts'
import type { ApiConfig } from '../config.ts'
import { createPasswordHasher } from '../people/hash-password.ts'
import { createCheckWebhook, createResolveHost } from '../webhooks/check-webhook.ts'
import { applyInitFile } from './apply-init-file.ts'
import { parseInitFile } from './init-file.ts'

interface DeclaredStartParts extends ProcessDependencies {
  environment?: Environment
  operatorPool: Pool
  sealer: Sealer
}

interface DeclaredStart {
  apply(): Promise<void>
  stop(): void
}

/** What SLUICE_INIT_FILE declares, if it is set. Throws for a wrong file before anything starts. */
export function createDeclaredStart(
  config: ApiConfig,
  { environment = {}, operatorPool: pool, ...parts }: DeclaredStartParts,
): DeclaredStart {
  const { SLUICE_INIT: text, WEBHOOK_ALLOW_INSECURE: insecureHosts, WEBHOOK_PORTS: ports } = config
  const file = text === undefined ? undefined : parseInitFile(text, environment)
  const stopping = new AbortController()
  const options = {
    ...parts,
    pool,
    checkWebhook: createCheckWebhook({ insecureHosts, ports }, createResolveHost(parts.clock)),
    hasher: createPasswordHasher(),
    defaultTier: defaultTierOf(config),
    canMask: config.SEARCH_KEY.length > 0,
  }
  return {
    async apply() {
      if (file !== undefined) await applyInitFile(file, options, stopping.signal)
    },
    stop: () => stopping.abort(),
  }
}

/** Of projects that name none. */
export function defaultTierOf(config: ApiConfig): Tier {
  return config.DEFAULT_TIER ?? (config.STRIPE_API_KEY === undefined ? 'enterprise' : 'free')
}
