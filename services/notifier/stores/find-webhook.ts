import type pg from 'pg'
import { postgresArray } from '#runtime/postgres-arrays.ts'
import { query, type PreparedStatement } from '#runtime/postgres.ts'
import { idToBytes } from '#schemas/ids.ts'
import { createBatcher } from './batcher.ts'
import { webhookColumns, webhookOf, webhookVersion, type Webhook, type WebhookRow } from './webhook-rows.ts'

const findChanged: PreparedStatement = {
  name: 'find_changed_webhooks',
  text: `
  select known.ordinal::integer, ${webhookColumns}
  from unnest($1::uuid[], $2::text[]) with ordinality as known (id, version, ordinal)
  left join webhooks w on w.id = known.id
  where w.id is null or known.version is distinct from ${webhookVersion}`,
}

/** `id`: null if the webhook is gone. */
type ChangedRow = { ordinal: number } & (WebhookRow | { id: null })

/** About a kilobyte each. Beyond the limit the oldest is read again. */
const defaultMaxKept = 10_000

/**
 * Finds a webhook as it is now. Each query returns only webhooks whose version has changed: returning the
 * same rows for every batch was 4 % of a delivery's cost.
 */
export function createFindWebhook(
  pool: pg.Pool,
  maxKept = defaultMaxKept,
): (webhookId: string) => Promise<Webhook | undefined> {
  const kept = new Map<string, Webhook>()
  return createBatcher({
    maxItems: 200,
    async run(ids) {
      const asked = [...new Set(ids)]
      const { rows } = await query<ChangedRow>(pool, findChanged, [
        postgresArray('uuid', asked, idToBytes),
        postgresArray('text', asked, (id) => kept.get(id)?.version ?? null),
      ])
      for (const row of rows) {
        const id = asked[row.ordinal - 1] as string
        kept.delete(id)
        if (row.id !== null) kept.set(id, webhookOf(row))
      }
      const found = ids.map((id) => kept.get(id))
      for (const oldest of kept.keys()) {
        if (kept.size <= maxKept) break
        kept.delete(oldest)
      }
      return found
    },
  })
}
