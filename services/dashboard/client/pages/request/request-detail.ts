import type { Answer } from '../../api/call-api.ts'

export type RequestDetail = Answer<'GET /api/requests/{id}'>
export type Score = RequestDetail['safety_scores'][number]
