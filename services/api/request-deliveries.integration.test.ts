import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import { threatEventId } from '#schemas/threat-event-id.ts'
import { deliveryId } from '#schemas/webhook-delivery.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

let api: RunningApi
let project: Awaited<ReturnType<RunningApi['createProject']>>
let requestId: string
let scoreIds: Map<string, string>

beforeAll(async () => {
  api = await startApi()
  project = await api.createProject()
  requestId = await seed(project.projectId)
  const { rows } = await api.pool.query<{ id: string; scorer_name: string }>(
    'select id, scorer_name from safety_scores where request_id = $1',
    [idToUuid(requestId)],
  )
  scoreIds = new Map(rows.map(({ id, scorer_name }) => [scorer_name, idFromUuid('score', id)]))
})
afterAll(() => api.stop())

const seed = (projectId: string) =>
  seedRequest(api.pool, createSealer([]), {
    projectId,
    requestBody: '{}',
    scores: [
      { scorer: 'pii_detection', value: 5, label: 'unsafe' },
      { scorer: 'prompt_injection', value: 4, label: 'unsafe' },
      { scorer: 'output_handling', value: 1, label: 'safe' },
    ],
  })

async function addWebhook(key: string): Promise<string> {
  const body = { url: 'https://receiver.example.com/hook', events: ['threat_detected'] }
  return String((await api.call('POST', '/api/v1/webhooks', { key, body })).json['id'])
}

/** As the notifier stores it, of the event that the sink raised for the score of `scorer`. */
async function deliver(webhookId: string, scorer: string, status: string, attempts: readonly string[] = []) {
  const event = {
    project_id: project.projectId,
    id: threatEventId({
      project_id: project.projectId,
      request_id: requestId,
      score_id: scoreIds.get(scorer) ?? '',
    }),
  }
  const id = deliveryId(event, webhookId)
  const ids = [id, webhookId, project.projectId, event.id].map(idToUuid)
  await api.pool.query(
    `insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, status, attempt_count, created_at)
     values ($1, $2, $3, $4, 'threat_detected', now(), '{}', $5, $6, now())`,
    [...ids, status, attempts.length],
  )
  for (const [index, error] of attempts.entries())
    await api.pool.query(
      'insert into webhook_attempts values ($1, $2, now(), now(), now(), 500, 12.5, $3, null)',
      [ids[0], index + 1, error],
    )
  return id
}

const told = async (key: string, id = requestId) =>
  (await api.call('GET', `/api/requests/${id}/deliveries`, { key })).json

test('who was notified of a call, webhook by webhook, and what went wrong', async () => {
  expect(await told(project.key)).toEqual({ items: [] })
  const [first, second, deleted] = [
    await addWebhook(project.key),
    await addWebhook(project.key),
    await addWebhook(project.key),
  ]
  const ids = [
    await deliver(first, 'pii_detection', 'delivered', ['answered 500', 'none']),
    await deliver(second, 'pii_detection', 'retrying', ['answered 500', 'answered 502']),
    await deliver(first, 'prompt_injection', 'pending'),
  ]
  await deliver(deleted, 'pii_detection', 'delivered')
  await api.call('DELETE', `/api/v1/webhooks/${deleted}`, { key: project.key })
  const common = { event: 'threat_detected', webhook_host: 'receiver.example.com' }
  expect(await told(project.key)).toMatchObject({
    items: [
      {
        ...common,
        id: ids[0],
        webhook_id: first,
        scorer_name: 'pii_detection',
        status: 'delivered',
        error: null,
      },
      {
        ...common,
        id: ids[1],
        webhook_id: second,
        status: 'retrying',
        attempt_count: 2,
        error: 'answered 502',
      },
      {
        ...common,
        id: ids[2],
        webhook_id: first,
        scorer_name: 'prompt_injection',
        status: 'pending',
        error: null,
      },
    ],
  })
})

test('nobody was notified of a call that has no deliveries, be it of the same webhooks', async () => {
  expect(await told(project.key, await seed(project.projectId))).toEqual({ items: [] })
})

test('another project is told neither who was told nor that there is the request', async () => {
  const other = await api.createProject()
  expect(await told(other.key)).toMatchObject({ code: 'NOT_FOUND' })
  const { status } = await api.call(
    'GET',
    `/api/requests/${requestId}/deliveries?project_id=${project.projectId}`,
    {
      key: other.key,
    },
  )
  expect(status).toBe(403)
})
