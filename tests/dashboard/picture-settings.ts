import { idToUuid, newId } from '#schemas/ids.ts'
import type { RunningApi } from '#tests/support/start-api.ts'

const deliveriesSql = `
  insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, status, attempt_count, created_at, delivered_at)
  values ($1, $2, $3, $4, 'threat_detected', $5::timestamptz, $6, $7::text, $8, $5::timestamptz, case when $7::text = 'delivered' then $5::timestamptz end)`
const attemptsSql = `
  insert into webhook_attempts
  select $1::uuid, number, $3::timestamptz, $3::timestamptz, $3::timestamptz, case when $4::boolean and number = $2 then 200 else 503 end, 40 + 13 * number,
    case when $4 and number = $2 then null else 'answered 503' end, case when $4 and number = $2 then 'ok' else 'down for maintenance' end::bytea
  from generate_series(1, $2::integer) number`
const gatewaysSql = `
  insert into gateways (project_id, name, seen_at, version, delivery, started_at, spool_records, spool_bytes, spool_oldest_at, lost, problems)
  values (null, 'gateway-1', now(), '1.0.0', 'kafka', now() - interval '9 days', 0, 0, null, '{}', '{}'),
    (null, 'gateway-2', now(), '1.0.0', 'kafka', now() - interval '9 days', 412, 1830000, now() - interval '40 s', '{}', '{"kafka": "brokers do not answer"}')`
const deadLettersSql = `
  insert into dead_letters (id, cluster, topic, partition, "offset", source_partition, source_offset, group_id, code, message, project_id, value_bytes, dead_at, status)
  select $1, 'main', $2, 0, $3::integer, 4, $3 + 118200, 'sluice.scorer', $4, $5, $6, 2113, now() - $3::integer * interval '17 minutes', $7`

/**
 * Administration pages: keys, people, webhooks with deliveries, reviews, suppressions, gateways, dead
 * letters. Returns the webhook of the delivery log.
 */
export async function fillPictureSettings(
  api: RunningApi,
  projectId: string,
  requestId: string,
): Promise<string> {
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await api.call('POST', path, { operator: true, body })
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`)
    return answer.json
  }
  await post('/api/projects', { name: 'Back office', tier: 'pro' })
  for (const name of ['production gateway', 'batch jobs', 'laptop of Ines'])
    await post(`/api/projects/${projectId}/keys`, { name })
  for (const [login, role] of [
    ['ines', 'analyst'],
    ['omar', 'viewer'],
  ] as const)
    await post('/api/people', {
      login,
      role,
      name: login === 'ines' ? 'Ines Analyst' : 'Omar Viewer',
      project_ids: [projectId],
      password: `the password of ${login}`,
    })
  for (const [scorer_name, agrees, reason] of [
    ['pii_detection', true, 'The card number is real.'],
    ['jailbreak_detection', false, 'A customer in a hurry, no attack.'],
  ] as const) {
    const review = { request_id: requestId, scorer_name, agrees, reason, reviewer: 'ines' }
    await post(`/api/reviews?project_id=${projectId}`, review)
  }
  await post(`/api/suppressions?project_id=${projectId}`, {
    ...{ scorer_name: 'pii_detection', kind: 'phone_number', value: '+49 30 1234567' },
    ...{ reason: 'The hotline that every answer names.', author: 'ines' },
  })
  const webhooks = `/api/v1/webhooks?project_id=${projectId}`
  await post(webhooks, {
    url: 'https://siem.example.com/ingest',
    events: ['usage_alert', 'redteam_complete'],
  })
  const { id } = await post(webhooks, {
    url: 'https://alerts.example.com/sluice',
    events: ['threat_detected'],
    filters: { severity: ['critical', 'high'] },
    filter_expression: 'data.scorer_name != "hallucination"',
  })
  await fillDeliveries(api, projectId, String(id))
  await fillOperations(api, projectId)
  return String(id)
}

async function fillDeliveries({ pool }: RunningApi, projectId: string, webhookId: string): Promise<void> {
  for (let index = 0; index < 12; index++) {
    const at = new Date(Date.now() - index * 1_140_000 - 60_000)
    const delivery = idToUuid(newId('delivery', at.getTime()))
    const isDelivered = index !== 3
    const attempts = index === 3 ? 4 : index === 6 ? 2 : 1
    await pool.query(deliveriesSql, [
      delivery,
      idToUuid(webhookId),
      idToUuid(projectId),
      idToUuid(newId('event', at.getTime())),
      at,
      Buffer.from(JSON.stringify({ scorer_name: 'pii_detection', severity: 'critical' })),
      isDelivered ? 'delivered' : 'failed',
      attempts,
    ])
    await pool.query(attemptsSql, [delivery, attempts, at, isDelivered])
  }
}

async function fillOperations({ pool }: RunningApi, projectId: string): Promise<void> {
  const project = idToUuid(projectId)
  await pool.query(gatewaysSql)
  const letters = [
    ['llm.request.logged', 'UNDECODABLE', 'no schema has the id 9182', 'open'],
    ['safety_score_jobs', 'CRASHED', 'ended its process three times', 'open'],
    ['safety_score_jobs', 'CRASHED', 'ended its process three times', 'redriven'],
    ['event.raised', 'UNDECODABLE', 'is 3 bytes long', 'dropped'],
  ] as const
  for (const [index, [topic, code, message, status]] of letters.entries()) {
    const id = idToUuid(newId('deadLetter'))
    await pool.query(deadLettersSql, [id, topic, index + 3, code, message, project, status])
  }
}
