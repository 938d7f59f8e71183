import type { Log } from '#runtime/log.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { AttackMark, IsMarkedAttack } from '../recording/attack-marks.ts'
import type { SharedBudget } from '../recording/capture-budget.ts'
import type { Recorder } from '../recording/recorder.ts'
import type { Caller } from './authorize.ts'
import type { CallQueue } from './call-queue.ts'
import type { BegunAnswer } from './early-headers.ts'
import type { LiveCalls } from './live-calls.ts'
import type { CallLabels } from './service-headers.ts'
import type { UpstreamCredentials } from './upstream-credentials.ts'
import type { Upstream } from './upstream.ts'

export interface ProxyDependencies {
  /** Those that are not over. */
  calls: LiveCalls
  upstream: Upstream
  /** For its connections. */
  queue: CallQueue
  /** Undefined: the application's own go to the provider. */
  credentials: UpstreamCredentials | undefined
  recorder: Recorder
  isMarkedAttack: IsMarkedAttack
  budget: SharedBudget
  /** For short bodies that are gathered before they are forwarded, until their calls are over. */
  gathering: SharedBudget
  /** Of a body in a record. */
  maxBodyBytes: number
  /** Of a request. */
  maxRequestBytes: number
  clientGone: 'abort' | 'drain'
  /** Told of every answer that begins. */
  earlyHeaders: (answer: BegunAnswer) => void
  metrics: GatewayMetrics
  log: Log
}

/** One request, as it is to be forwarded. */
export interface ForwardedCall {
  id: string
  caller: Caller
  path: string
  headers: string[]
  labels: CallLabels
  mark: AttackMark | undefined
  isRecorded: boolean
}
