import type pg from 'pg'
import { postgresArray } from '#runtime/postgres-arrays.ts'
import { query, type PreparedStatement } from '#runtime/postgres.ts'
import { idToBytes } from '#schemas/ids.ts'
import { createBatcher } from './batcher.ts'
import { webhookColumns, webhookOf, webhookVersion, type Webhook, type WebhookRow } from './webhook-rows.ts'

const findChanged: PreparedStatement = {
  name: 'find_changed_webhooks_of_projects',
  text: `
  select known.ordinal::integer, found.versions, ${webhookColumns}
  from unnest($1::uuid[], $2::text[]) with ordinality as known (project_id, versions, ordinal)
  cross join lateral (
    select string_agg(w.id::text || ' ' || ${webhookVersion}, ',' order by w.id) as versions from webhooks w
    where w.project_id = known.project_id
  ) found
  left join webhooks w on w.project_id = known.project_id
  where found.versions is distinct from known.versions`,
}

type ChangedRow = { ordinal: number; versions: string } & (WebhookRow | { id: null })

/** Webhooks of about a kilobyte each. Beyond the limit those of the oldest project are read again. */
const defaultMaxKept = 10_000

/** Finds the current webhooks of a project, also disabled ones. Reads only changes, as find-webhook.ts. */
export function createFindWebhooksOfProject(
  pool: pg.Pool,
  maxKept = defaultMaxKept,
): (projectId: string) => Promise<readonly Webhook[]> {
  const kept = new Map<string, { versions: string; webhooks: Webhook[] }>()
  let count = 0
  const forget = (projectId: string) => {
    count -= kept.get(projectId)?.webhooks.length ?? 0
    kept.delete(projectId)
  }
  return createBatcher({
    maxItems: 500,
    async run(projectIds) {
      const asked = [...new Set(projectIds)]
      const { rows } = await query<ChangedRow>(pool, findChanged, [
        postgresArray('uuid', asked, idToBytes),
        postgresArray('text', asked, (id) => kept.get(id)?.versions ?? null),
      ])
      for (const ordinal of new Set(rows.map((row) => row.ordinal))) forget(asked[ordinal - 1] as string)
      for (const row of rows) {
        if (row.id === null) continue
        const projectId = asked[row.ordinal - 1] as string
        const known = kept.get(projectId) ?? { versions: row.versions, webhooks: [] }
        kept.set(projectId, known)
        known.webhooks.push(webhookOf(row))
        count++
      }
      const found = projectIds.map((id) => kept.get(id)?.webhooks ?? [])
      for (const oldest of kept.keys()) {
        if (count <= maxKept) break
        forget(oldest)
      }
      return found
    },
  })
}
