import { Agent, type Dispatcher } from 'undici'
import { createEgressConnector } from '#runtime/egress/egress-connector.ts'
import type { GatewayConfig } from './config.ts'

/**
 * How long connecting may take: detects a peer that drops packets, whatever BACKEND_TIMEOUT_MS allows its
 * answers.
 */
const longestConnectMs = 3_000

export interface Agents {
  /** To the API, and to metadata services. */
  backend: Dispatcher
  /** To identity providers. */
  outside: Dispatcher
  closeAgents: () => Promise<void>
}

export function createAgents(config: GatewayConfig): Agents {
  const { BACKEND_TIMEOUT_MS: timeoutMs, UPSTREAM_PROXY_URL: proxy } = config
  const connect = { timeout: Math.min(timeoutMs, longestConnectMs) }
  const limits = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs }
  const backend = new Agent({ ...limits, connect })
  if (proxy === undefined) return { backend, outside: backend, closeAgents: () => backend.close() }
  const outside = new Agent({ ...limits, connect: createEgressConnector(config, connect) })
  return {
    backend,
    outside,
    closeAgents: async () => {
      await Promise.all([backend.close(), outside.close()])
    },
  }
}
