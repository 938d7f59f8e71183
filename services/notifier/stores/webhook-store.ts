import type pg from 'pg'
import { query } from '#runtime/postgres.ts'
import { idToUuid } from '#schemas/ids.ts'
import { createFindWebhook } from './find-webhook.ts'
import { createFindWebhooksOfProject } from './find-webhooks-of-project.ts'
import type { Webhook } from './webhook-rows.ts'

export interface ExpressionFailure {
  webhook: Webhook
  failure: string
}

export interface WebhookStore {
  /** Every webhook of the project, also disabled ones. */
  ofProject(projectId: string): Promise<readonly Webhook[]>
  /** Undefined if the project has no such webhook. */
  find(projectId: string, webhookId: string): Promise<Webhook | undefined>
  /** Notes on webhooks why their expressions failed, unless the expressions have changed. */
  noteExpressionFailures(failures: readonly ExpressionFailure[]): Promise<void>
  /**
   * Notes that a delivery has failed for good. Disables the webhook if nothing was delivered for as long as
   * its owner has set. Returns why the notifier disabled it, now or before; null if it did not.
   */
  noteFailure(webhookId: string): Promise<{ reason: string | null; isNew: boolean }>
  /** Notes that something was delivered. */
  noteDelivered(webhookId: string): Promise<void>
}

// At most one write a minute for an expression that fails on every event.
const noteFailures = `
  update webhooks set expression_failure = failed.failure, expression_failed_at = now()
  from unnest($1::uuid[], $2::text[], $3::text[]) as failed (id, expression, failure)
  where webhooks.id = failed.id and webhooks.filter_expression = failed.expression
    and (expression_failed_at is null or expression_failed_at < now() - interval '1 minute')`

/**
 * Waits a minute longer. A success whose attempt began before the failure was noted leaves failing_since as
 * it is, and such an attempt ends within a minute. The log of deliveries may be too long to search for it.
 */
const isOver = `(enabled and failing_since <= now() - disable_after_hours * interval '1 hour' - interval '1 minute') is true`
// Of simultaneous failures one disables: each waits for the row and sees the change of the one before.
const noteFailing = `
  update webhooks set failing_since = coalesce(failing_since, now()),
    enabled = enabled and not ${isOver},
    disabled_at = case when ${isOver} then now() else disabled_at end,
    disabled_reason = case when ${isOver}
      then format('nothing was delivered for %s h, since %s', disable_after_hours,
        to_char(failing_since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
      else disabled_reason end
  where id = $1
  returning disabled_reason as reason, disabled_at is not distinct from now() as is_new`

/** Reads webhooks as they are now: a change applies from the next attempt on. */
export function createWebhookStore(pool: pg.Pool): WebhookStore {
  const find = createFindWebhook(pool)
  return {
    ofProject: createFindWebhooksOfProject(pool),
    async find(projectId, webhookId) {
      const webhook = await find(webhookId)
      return webhook?.projectId === projectId ? webhook : undefined
    },
    async noteFailure(webhookId) {
      const { rows } = await query<{ reason: string | null; is_new: boolean }>(pool, noteFailing, [
        idToUuid(webhookId),
      ])
      return { reason: rows[0]?.reason ?? null, isNew: rows[0]?.is_new ?? false }
    },
    async noteDelivered(webhookId) {
      await query(
        pool,
        'update webhooks set failing_since = null where id = $1 and failing_since is not null',
        [idToUuid(webhookId)],
      )
    },
    async noteExpressionFailures(failures) {
      if (failures.length === 0) return
      // One failure is enough for each webhook.
      const latest = [...new Map(failures.map((one) => [one.webhook.id, one])).values()]
      await query(pool, noteFailures, [
        latest.map(({ webhook }) => idToUuid(webhook.id)),
        latest.map(({ webhook }) => webhook.filterExpression),
        latest.map(({ failure }) => failure),
      ])
    },
  }
}
