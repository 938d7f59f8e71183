import { Agent, type Dispatcher } from 'undici'
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

export function createAgents({ BACKEND_TIMEOUT_MS: timeoutMs }: GatewayConfig): Agents {
  const connect = { timeout: Math.min(timeoutMs, longestConnectMs) }
  const backend = new Agent({ headersTimeout: timeoutMs, bodyTimeout: timeoutMs, connect })
  return { backend, outside: backend, closeAgents: () => backend.close() }
}
