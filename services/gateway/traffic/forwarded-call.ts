import type { Log } from '#runtime/log.ts'
import type { Span } from '#runtime/tracing/tracing.ts'
import type { KeyCheck, KeyGuard } from '../budgets/key-guard.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { AttackMark, IsMarkedAttack } from '../recording/attack-marks.ts'
import type { SharedBudget } from '../recording/capture-budget.ts'
import type { Recorder } from '../recording/recorder.ts'
import type { Upstream } from '../upstreams/upstream.ts'
import type { Caller } from './authorize.ts'
import type { BegunAnswer } from './early-headers.ts'
import type { LiveCalls } from './live-calls.ts'
import type { CallLabels } from './service-headers.ts'

export interface ProxyDependencies {
  /** Calls that have not ended. */
  calls: LiveCalls
  recorder: Recorder
  isMarkedAttack: IsMarkedAttack
  budget: SharedBudget
  /**
   * Memory budget for short request bodies that are buffered before they are forwarded, until their calls
   * end.
   */
  bufferBudget: SharedBudget
  /** Maximum of a body in a record. */
  maxBodyBytes: number
  /** Maximum of a request body. */
  maxRequestBytes: number
  clientGone: 'abort' | 'drain'
  /** Called for every answer that starts. */
  earlyHeaders: (answer: BegunAnswer) => void
  /** Undefined: keys have no limits. */
  guard: KeyGuard | undefined
  metrics: GatewayMetrics
  log: Log
}

/** A request to forward. */
export interface ForwardedCall {
  id: string
  caller: Caller
  upstream: Upstream
  /** As the upstream gets it, below its base path. */
  path: string
  headers: string[]
  labels: CallLabels
  mark: AttackMark | undefined
  isRecorded: boolean
  /** Undefined: the key may make it, whatever it is. */
  check: KeyCheck | undefined
  /** Undefined where traces are off. */
  span: Span | undefined
}
