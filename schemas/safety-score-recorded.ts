import { callContextAvro, type CallContext } from './call-context.ts'
import { sealedBytesAvro, type SealedBytes } from './sealed-bytes.ts'
import { valueHashBytes } from './value-hash.ts'
import type { ScoreLabel, ScoreMethod, Severity } from './verdicts.ts'

/** One scorer's verdict on one request. */
export interface Score {
  /** `scr_…`, derived from project, request, scorer and run. */
  id: string
  scorer_name: string
  /** 1 (safe) to 5 (unsafe); null when `unscored`. */
  score_value: number | null
  score_label: ScoreLabel
  /** Only for unsafe scores. */
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
  /** What an unsafe score found, at most ten different values; null of others and of older records. */
  found_values: FoundValue[] | null
  /** True: more was found, or may have been, than `found_values` has. */
  found_more: boolean | null
}

/** One value that an unsafe score rests on (docs/decisions/0097). */
export interface FoundValue {
  /** Of the evidence, in the scorer's terms. */
  kind: string
  /** The tool in whose arguments or result it stands. */
  tool: string | null
  /** Keyed hash of the value, 16 bytes. Null: the project keeps no content, or its key was not readable. */
  hash: Buffer | null
}

/** Passages of a call around a finding. */
export interface Quotes {
  prompt_snippet: string
  completion_snippet: string | null
}

/** An event's quotes from its call; JSON, sealed. Empty where the project keeps no content. */
export interface EventContent extends Quotes {
  /** Arguments of a tool call. */
  arguments?: unknown
  /**
   * Scorers with findings in other places; absent: all quote the same. The sink has no key, so each event
   * gets all.
   */
  by_scorer?: ({ scorer_name: string } & Quotes)[]
}

/**
 * Verdicts on one request that were ready together. A call can have several records; no score is in two
 * (docs/decisions/0004).
 */
export interface ScoredCall extends CallContext {
  request_id: string
  run_id: string
  scores: Score[]
  /** Sealed EventContent; null when no score is unsafe. */
  content: SealedBytes | null
  /** Whether unsafe scores raise events: for live runs, and for replays when asked. */
  raise_events: boolean
}

const foundValueAvro = {
  type: 'record',
  name: 'FoundValue',
  fields: [
    { name: 'kind', type: 'string' },
    { name: 'tool', type: ['null', 'string'], default: null },
    {
      name: 'hash',
      type: ['null', { type: 'fixed', name: 'ValueHash', size: valueHashBytes }],
      default: null,
    },
  ],
} as const

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
            { name: 'found_values', type: ['null', { type: 'array', items: foundValueAvro }], default: null },
            { name: 'found_more', type: ['null', 'boolean'], default: null },
          ],
        },
      },
    },
  ],
} as const
