import type { QueryResultRow } from 'pg'
import { query } from '#runtime/postgres.ts'
import { idFromUuid, idToUuid, newId } from '#schemas/ids.ts'
import type { SealedBytes } from '#schemas/sealed-bytes.ts'
import { definedOf } from '../routes/project-fields.ts'
import { listsOf } from '../routes/webhook-routes.ts'
import { writeAudit } from '../stores/audit-store.ts'
import { ofOneProject } from '../stores/project-database.ts'
import { createWebhook, maxWebhooks, rotateSecret, updateWebhook } from '../stores/webhook-store.ts'
import type { ProjectChanges } from '../stores/webhook-store.ts'
import { isSecret, sealSecret } from '../webhooks/webhook-secret.ts'
import { changedFields } from './changed-fields.ts'
import type { Declaration } from './declaration.ts'
import type { DeclaredWebhook } from './init-file.ts'

/** For receivers to change over to a secret that was changed in the file. */
const overlapMs = 24 * 3_600_000

interface WebhookRow extends SealedBytes {
  id: string
  events: string[]
  filters: Record<string, string[]>
  filter_expression: string | null
  enabled: boolean
  disable_after_hours: number | null
}

/** A webhook is its address: another address is one more webhook. */
export async function declareWebhook(
  declaration: Declaration,
  projectId: string,
  webhook: DeclaredWebhook,
  path: string,
): Promise<void> {
  const { client, sealer, nowMs } = declaration
  const { secret, filters, ...rest } = webhook
  const settings = { ...definedOf(rest), ...(filters === undefined ? {} : { filters: listsOf(filters) }) }
  const { rows } = await client.query<WebhookRow>(
    `select id, events, filters, filter_expression, enabled, disable_after_hours, secret_codec as codec,
       secret_key_id as key_id, secret_data as data
     from webhooks where project_id = $1 and url = $2 and kind = 'webhook' order by created_at, id limit 1`,
    [idToUuid(projectId), webhook.url],
  )
  const database = changesOf(declaration, projectId)
  const [stored] = rows
  if (stored === undefined) {
    const id = newId('webhook', nowMs)
    const defaults = { filters: {}, filter_expression: null, enabled: true, disable_after_hours: null }
    const input = { ...defaults, ...settings, url: webhook.url, events: webhook.events }
    const sealed = sealSecret(sealer, secret, { projectId, webhookId: id })
    const made = await createWebhook(database, id, input, sealed, nowMs)
    if (made === undefined) declaration.fault(path, `is one too many: a project has at most ${maxWebhooks}`)
    else declaration.count('created')
    return
  }
  const id = idFromUuid('webhook', stored.id)
  const changes = changedFields({ ...stored, url: webhook.url }, settings)
  const isChanged = Object.keys(changes).length > 0
  if (isChanged) await updateWebhook(database, id, changes, nowMs)
  const owner = { projectId, webhookId: id }
  const isRotated = !isSecret(sealer, stored, secret, owner)
  if (isRotated) await rotateSecret(database, id, sealSecret(sealer, secret, owner), nowMs + overlapMs, nowMs)
  if (isChanged || isRotated) declaration.count('changed')
}

/** The statements of webhook-store.ts within the declaration's transaction. */
function changesOf({ client, actor }: Declaration, projectId: string): ProjectChanges {
  return {
    async change<R extends QueryResultRow>(
      ...[text, values, entry, nowMs]: Parameters<ProjectChanges['change']>
    ) {
      const { rows } = await query<R>(client, ofOneProject(text), [idToUuid(projectId), ...values])
      if (rows.length > 0) await writeAudit(client, actor, { ...entry, projectId }, nowMs)
      return rows
    },
  }
}
