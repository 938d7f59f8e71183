import { callContextAvro, type CallContext } from './call-context.ts'
import { maskedValueAvro, type MaskedValue } from './masked-value.ts'
import { sealedBytesAvro, type SealedBytes } from './sealed-bytes.ts'

/** A stored call to be scored. Carries the bodies, so a scorer needs no query for them. */
export interface ScoreJob extends CallContext {
  /** `req_…` */
  request_id: string
  /** The project's live run, or a replay's. */
  run_id: string
  /** The scorers to run; null: those of the tier and the custom ones. */
  scorers: string[] | null
  request_body: SealedBytes | null
  response_body: SealedBytes | null
  /** Unix milliseconds when the job was queued. */
  queued_at: number
  /** Set for a replay with alerts: its failing scores raise events like live ones. */
  raise_events?: boolean
  /** As in the call. */
  masked?: readonly MaskedValue[] | null | undefined
}

export const safetyScoreJobAvro = {
  type: 'record',
  name: 'SafetyScoreJob',
  namespace: 'sluice',
  fields: [
    { name: 'request_id', type: 'string' },
    { name: 'run_id', type: 'string' },
    { name: 'scorers', type: ['null', { type: 'array', items: 'string' }], default: null },
    ...callContextAvro,
    { name: 'request_body', type: ['null', sealedBytesAvro], default: null },
    { name: 'response_body', type: ['null', 'sluice.SealedBytes'], default: null },
    { name: 'queued_at', type: 'long' },
    { name: 'raise_events', type: 'boolean', default: false },
    { name: 'masked', type: ['null', { type: 'array', items: maskedValueAvro }], default: null },
  ],
} as const
