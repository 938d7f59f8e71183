import type { SocketProtocol } from '#capture/socket-calls.ts'
import type { Log } from '#runtime/log.ts'
import type { Span } from '#runtime/tracing/tracing.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { SharedBudget } from '../recording/capture-budget.ts'
import type { Recorder } from '../recording/recorder.ts'
import type { Caller } from '../traffic/authorize.ts'
import type { LiveCalls } from '../traffic/live-calls.ts'
import type { CallLabels } from '../traffic/service-headers.ts'
import type { Upstream } from '../upstreams/upstream.ts'

export interface SocketDependencies {
  calls: LiveCalls
  recorder: Recorder
  budget: SharedBudget
  maxBodyBytes: number
  /** How long a socket may be silent. */
  socketIdleMs: number
  /** How long a side may not read what waits for it. */
  stallTimeoutMs: number
  metrics: GatewayMetrics
  log: Log
  now: () => number
}

/** A handshake to forward. */
export interface ForwardedSocket {
  id: string
  caller: Caller
  upstream: Upstream
  protocol: SocketProtocol
  /** As the upstream gets it, below its base path. */
  path: string
  headers: string[]
  labels: CallLabels
  span: Span | undefined
  /** Whether the key is still good, and whose it is now. */
  findCaller: () => Caller | 'unknown' | 'unavailable' | Promise<Caller | 'unknown' | 'unavailable'>
}
