import type { Principal } from '#http/access/principal.ts'
import type { RouteRequest } from '#http/route.ts'
import type { Metrics } from '#runtime/metrics.ts'
import type { LogCalls } from '../log-calls.ts'
import type { WaitingCallStore } from '../stores/waiting-call-store.ts'

export interface OtlpOptions {
  logCalls: LogCalls
  waitingCalls: WaitingCallStore
  /** Memory of a record besides its bytes. */
  recordBytes: number
  metrics: Metrics
}

/** A sender's export request. */
export interface Export {
  request: unknown
  principal: Extract<Principal, { kind: 'key' }>
  reserveBodyBudget: RouteRequest['reserveBodyBudget']
}

/** Returns why parts of the request are refused. Throws what stops all of it. */
export type Take = (given: Export) => Promise<string[]>
