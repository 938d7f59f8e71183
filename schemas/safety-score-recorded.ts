import { callContextAvro, type CallContext } from './call-context.ts'
import { sealedBytesAvro, type SealedBytes } from './sealed-bytes.ts'
import type { ScoreLabel, ScoreMethod, Severity } from './verdicts.ts'

/** One scorer's verdict on one request. */
export interface Score {
  /** `scr_…`, derived from project, request, scorer and run. */
  id: string
  scorer_name: string
  /** 1 (safe) to 5 (unsafe); null when `unscored`. */
  score_value: number | null
  score_label: ScoreLabel
  /** Only of unsafe scores. */
  severity: Severity | null
  method: ScoreMethod
  scorer_version: string
  owasp_category: string | null
  /** Why it is `unscored`; null otherwise. */
  reason: string | null
  /** JSON `{ rationale, evidence, judge? }`, sealed. */
  details: SealedBytes | null
  /** Unix milliseconds. */
  scored_at: number
}

/** Passages of a call, around what was found in them. */
export interface Quotes {
  prompt_snippet: string
  completion_snippet: string | null
}

/** What an event about a call quotes of it; JSON, sealed. Empty where the project keeps no content. */
export interface EventContent extends Quotes {
  /** Arguments of a tool call. */
  arguments?: unknown
  /** Of scorers that found something elsewhere; absent: all quote the same. The sink, which has no key, gives every event the whole. */
  by_scorer?: ({ scorer_name: string } & Quotes)[]
}

/** The verdicts on one request that were ready together. A call can have several of these records, never a score in two: docs/decisions/0004. */
export interface ScoredCall extends CallContext {
  request_id: string
  run_id: string
  scores: Score[]
  /** Sealed EventContent; null when no score is unsafe. */
  content: SealedBytes | null
  /** Whether unsafe scores raise events: true for live runs, for replays only when asked. */
  raise_events: boolean
}

export const safetyScoreRecordedAvro = {
  type: 'record',
  name: 'SafetyScoreRecorded',
  namespace: 'sluice',
  fields: [
    { name: 'request_id', type: 'string' },
    { name: 'run_id', type: 'string' },
    ...callContextAvro,
    { name: 'content', type: ['null', sealedBytesAvro], default: null },
    { name: 'raise_events', type: 'boolean' },
    {
      name: 'scores',
      type: {
        type: 'array',
        items: {
          type: 'record',
          name: 'Score',
          fields: [
            { name: 'id', type: 'string' },
            { name: 'scorer_name', type: 'string' },
            { name: 'score_value', type: ['null', 'double'], default: null },
            { name: 'score_label', type: 'string' },
            { name: 'severity', type: ['null', 'string'], default: null },
            { name: 'method', type: 'string' },
            { name: 'scorer_version', type: 'string' },
            { name: 'owasp_category', type: ['null', 'string'], default: null },
            { name: 'reason', type: ['null', 'string'], default: null },
            { name: 'details', type: ['null', 'sluice.SealedBytes'], default: null },
            { name: 'scored_at', type: 'long' },
          ],
        },
      },
    },
  ],
} as const
