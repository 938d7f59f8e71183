import type { Score, ScoredCall } from '#schemas/safety-score-recorded.ts'
import { fractionOf, labelInEvents } from './to-event-form.ts'

/**
 * The structured log line of one written score (specification 2.9). `ts` and `level` are added by the log.
 */
export interface ScoreLine {
  event: 'safety_score_written'
  request_id: string
  project_id: string
  agent_name: string | null
  model: string
  scorer: string
  score_label: 'safe' | 'fail' | 'unscored'
  score_value: number | null
  severity: string | null
  owasp_category: string | null
  latency_ms: number | null
}

export function makeScoreLine(call: ScoredCall, score: Score): ScoreLine {
  return {
    event: 'safety_score_written',
    request_id: call.request_id,
    project_id: call.project_id,
    agent_name: call.agent_name,
    model: call.model,
    scorer: score.scorer_name,
    score_label: labelInEvents(score.score_label),
    score_value: fractionOf(score),
    severity: score.severity,
    owasp_category: score.owasp_category,
    latency_ms: call.latency_ms,
  }
}
