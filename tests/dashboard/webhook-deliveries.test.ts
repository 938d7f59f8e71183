import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { createSealer } from '#runtime/sealing.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import { threatEventId } from '#schemas/threat-event-id.ts'
import { deliveryId } from '#schemas/webhook-delivery.ts'
import { seriousFindings, startDashboardSite, type DashboardSite } from '#tests/support/dashboard-site.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'

let site: DashboardSite
let page: Page
let unsafe: string
let webhookId: string

beforeAll(async () => {
  site = await startDashboardSite()
  page = (await site.signIn()).page
  const { pool } = site.api
  unsafe = await seedRequest(pool, createSealer([]), {
    projectId: site.projectId,
    scores: [{ scorer: 'pii_detection', value: 5, label: 'unsafe' }],
  })
  const webhook = await site.api.call('POST', `/api/v1/webhooks?project_id=${site.projectId}`, {
    operator: true,
    body: { url: 'https://receiver.example.com/a-secret', events: ['threat_detected'] },
  })
  webhookId = String(webhook.json['id'])
  const { rows } = await pool.query<{ id: string }>('select id from safety_scores where request_id = $1', [
    idToUuid(unsafe),
  ])
  const score_id = idFromUuid('score', rows[0]?.id ?? '')
  const of = { project_id: site.projectId, request_id: unsafe }
  const event = { project_id: site.projectId, id: threatEventId({ ...of, score_id }) }
  await pool.query(
    `insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, status, created_at, delivered_at)
     values ($1, $2, $3, $4, 'threat_detected', now(), '{}', 'delivered', now(), now())`,
    [deliveryId(event, webhookId), webhookId, site.projectId, event.id].map(idToUuid),
  )
}, 600_000)
afterAll(() => site.stop())

test('a call that is unsafe shows who was notified of it, and leads to the log of the webhook', async () => {
  await page.goto(`/requests/${unsafe}?project=${site.projectId}`)
  const told = page.getByRole('region', { name: 'receiver.example.com, pii_detection' })
  await told.getByText('delivered').waitFor()
  expect(await page.getByText('a-secret').count()).toBe(0)
  expect(await seriousFindings(page)).toEqual([])
  await told.getByRole('link', { name: 'receiver.example.com' }).click()
  await page.waitForURL(`**/settings/webhooks/${webhookId}/deliveries*`)
  await page.getByRole('table', { name: 'Deliveries' }).getByText('delivered', { exact: true }).waitFor()
})

test('one that is safe says nothing of it', async () => {
  const safe = await seedRequest(site.api.pool, createSealer([]), {
    projectId: site.projectId,
    scores: [{ scorer: 'pii_detection', value: 1, label: 'safe' }],
  })
  await page.goto(`/requests/${safe}?project=${site.projectId}`)
  await page.getByRole('region', { name: 'pii_detection' }).waitFor()
  expect(await page.getByRole('heading', { name: 'Webhook deliveries' }).count()).toBe(0)
})

test.each([
  ['delivered', 204, null, 'Delivered: the receiver answered with status 204.'],
  ['retrying', 500, 'answered 500', 'The test event was not delivered: status 500. It will be tried again.'],
  ['failed', null, 'ECONNREFUSED', 'The test event was not delivered: ECONNREFUSED.'],
])('what a test event came to is said: %s', async (status, answered, error, said) => {
  const { pool } = site.api
  await page.goto(`/settings/webhooks?project=${site.projectId}`)
  await page.getByRole('button', { name: /^Actions for / }).click()
  const sent = page.waitForResponse((response) => response.url().includes('/test'))
  await page.getByRole('menuitem', { name: 'Send Test Event' }).click()
  const { delivery_id } = (await (await sent).json()) as { delivery_id: string }
  // As the notifier records the receiver's answer.
  await pool.query(
    `insert into webhook_attempts (delivery_id, number, lease_until, at, finished_at, status_code, error)
     values ($1, 1, now(), now(), now(), $2, $3)`,
    [idToUuid(delivery_id), answered, error],
  )
  await pool.query(
    `insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, status, attempt_count, created_at)
     values ($1, $2, $3, gen_random_uuid(), 'threat_detected', now(), '{}', $4, 1, now())`,
    [...[delivery_id, webhookId, site.projectId].map(idToUuid), status],
  )
  await page.getByText(said).waitFor()
  const failures = page.getByText(/ of [0-9]+ deliveries of the last day failed/)
  await page.reload()
  await page.getByRole('table', { name: 'Webhooks' }).waitFor()
  expect(await failures.count()).toBe(status === 'delivered' ? 0 : 1)
})
