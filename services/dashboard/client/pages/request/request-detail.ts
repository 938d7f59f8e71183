import type { Answer } from '../../api/call-api.ts'
import type { Verdict } from '../../formats/worst-verdict.ts'

export type RequestDetail = Answer<'GET /api/requests/{id}'>
export type Score = RequestDetail['safety_scores'][number]

export function verdictOf({ score_label, severity }: Score): Verdict {
  return { label: score_label, severity }
}
