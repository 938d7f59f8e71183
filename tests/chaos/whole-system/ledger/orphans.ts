const ofRequest = (table: string) =>
  `${table} t where not exists (select from llm_requests r where r.project_id = t.project_id and r.id = t.request_id)`

/**
 * Queries for rows without their parent. Foreign keys exist between daily partitions only, so they miss some.
 */
export const orphanQueries: Readonly<Record<string, string>> = {
  'bodies without their call': ofRequest('llm_request_bodies'),
  'previews without their call': ofRequest('request_previews'),
  'scores without their call': ofRequest('safety_scores'),
  'verdicts without their call': ofRequest('request_verdicts'),
  'quota claims without their call': ofRequest('quota_claims'),
  'details without their score':
    'safety_score_details t where not exists (select from safety_scores s where s.project_id = t.project_id and s.id = t.score_id)',
  'scored calls without a verdict':
    '(select distinct project_id, request_id from safety_scores) t where not exists (select from request_verdicts v where v.project_id = t.project_id and v.request_id = t.request_id)',
  'deliveries without their event':
    'webhook_deliveries t where not exists (select from event_outbox e where e.id = t.event_id)',
  'attempts without their delivery':
    'webhook_attempts t where not exists (select from webhook_deliveries d where d.id = t.delivery_id)',
}
