import { expect, test } from '@jest/globals'
import { idToUuid, newId } from '#schemas/ids.ts'
import { examineWebhooks } from './examine-webhooks.ts'
import { useClient } from './testing/use-client.ts'

const openClient = useClient()

test('reports a webhook whose deliveries fail, not one without deliveries', async () => {
  const client = openClient()
  const [webhookId, projectId] = [newId('webhook'), newId('project')]
  const [webhook, project] = [webhookId, projectId].map(idToUuid)
  await client.query(`insert into projects (id, name, created_at) values ($1, 'p', now())`, [project])
  await client.query(
    `insert into webhooks (id, project_id, url, events, secret_codec, secret_data, created_at, updated_at)
     values ($1, $2, 'https://a.example', '{}', 'raw', '', now(), now())`,
    [webhook, project],
  )
  expect(await examineWebhooks(client)).toMatchObject([{ check: 'webhooks', state: 'ok' }])
  await client.query(
    `insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, status, attempt_count, created_at)
     select gen_random_uuid(), $1, $2, gen_random_uuid(), 'usage_alert', now(), '{}', 'retrying', 1, now() from generate_series(1, 172)`,
    [webhook, project],
  )
  const which = `${webhookId} of ${projectId}: 172 of 172 failed`
  expect(await examineWebhooks(client)).toMatchObject([
    { state: 'warning', what: `in the last day half or more of the deliveries failed to ${which}` },
  ])
})
