import type { Dispatcher } from 'undici'
import type { Log } from '#runtime/log.ts'
import type { GatewayConfig } from '../config.ts'
import { readPrices } from '../read-prices.ts'
import { createKeyBudgets } from './key-budgets.ts'
import type { KeyGuard } from './key-guard.ts'
import { reportToApi } from './lease-by-api.ts'
import { createRateLimits } from './rate-limits.ts'

/** Undefined: the gateway's own keys have no limits. */
export function createKeyGuard(
  config: GatewayConfig,
  dispatcher: Dispatcher,
  { log, now }: { log: Log; now: () => number },
): KeyGuard | undefined {
  if (config.GATEWAY_AUTH === 'proxy_keys') return undefined
  const report = reportToApi(config.API_BACKEND_URL, config.INTERNAL_API_SECRET ?? '', dispatcher)
  return {
    rates: createRateLimits(now),
    budgets: createKeyBudgets({ report, now, log }),
    prices: readPrices(config),
    now,
  }
}
