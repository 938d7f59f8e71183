import type { QueryResultRow } from 'pg'
import { lastDaySql } from '#schemas/failing-webhooks.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import type { SealedBytes } from '#schemas/sealed-bytes.ts'
import type { OneProject, ProjectDatabase, ProjectEntry } from './project-database.ts'

export interface WebhookInput {
  url: string
  events: readonly string[]
  filters: Readonly<Record<string, readonly string[]>>
  filter_expression: string | null
  enabled: boolean
  disable_after_hours: number | null
}

export interface Webhook extends WebhookInput {
  id: string
  project_id: string
  /** The last error of the expression on an event, since it was saved. Nothing is sent then. */
  filter_expression_error: { message: string; at: string } | null
  /** Why and when the notifier disabled it; null: it did not, or it was enabled since. */
  disabled_by_failures: { reason: string; at: string } | null
  created_at: string
  /** The result of the newest delivery that was attempted. */
  last_result: {
    status: 'retrying' | 'delivered' | 'failed'
    at: string
    status_code: number | null
    error: string | null
  } | null
  last_day: { deliveries: number; failed: number; failure_share: number | null }
}

export type WebhookRow = WebhookInput & {
  id: string
  project_id: string
  created_at: Date
  expression_failure: string | null
  expression_failed_at: Date | null
  disabled_reason: string | null
  disabled_at: Date | null
  deliveries: number
  failed: number
  last_status: 'retrying' | 'delivered' | 'failed' | null
  last_at: Date | null
  last_status_code: number | null
  last_error: string | null
}

const columns = `w.id, w.project_id, w.url, w.events, w.filters, w.filter_expression, w.enabled, w.created_at,
  w.expression_failure, w.expression_failed_at, w.disable_after_hours, w.disabled_reason, w.disabled_at`

/** The webhooks in `owner`, a table or a statement's changed rows, with `more` columns. */
export const selectFrom = (
  owner: string,
  more = '',
) => `select ${columns}${more}, day.deliveries, day.failed, last.status as last_status, last.at as last_at,
  last.status_code as last_status_code, last.error as last_error
  from ${owner} w cross join lateral (${lastDaySql}) day left join lateral (
    select d.status, a.at, a.status_code, a.error from webhook_deliveries d
    join webhook_attempts a on a.delivery_id = d.id and a.number = d.attempt_count
    where d.webhook_id = w.id and d.status <> 'pending' order by d.created_at desc, d.id desc limit 1) last on true`

/** Per project: each event is checked against all of them. */
export const maxWebhooks = 1_000

/** What changes rows of one project, each with its audit entry. */
export interface ProjectChanges {
  change<R extends QueryResultRow>(
    text: string,
    values: readonly unknown[],
    entry: ProjectEntry,
    nowMs: number,
    isCounted?: boolean,
  ): Promise<R[]>
}

/** Undefined: unknown project, or its limit. */
export async function createWebhook(
  database: ProjectChanges,
  id: string,
  input: WebhookInput,
  secret: SealedBytes,
  nowMs: number,
): Promise<Webhook | undefined> {
  const rows = await database.change<WebhookRow>(
    `with w as (
       insert into webhooks (id, project_id, url, events, filters, filter_expression, enabled, secret_codec, secret_key_id,
         secret_data, created_at, updated_at, disable_after_hours)
       select $2, p.project_id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12 from subscriptions p
       where :scope(p) and (select count(*) from webhooks other where :scope(other)) < $13
       returning *)
     ${selectFrom('w')}`,
    [
      idToUuid(id),
      input.url,
      input.events,
      JSON.stringify(input.filters),
      input.filter_expression,
      input.enabled,
      secret.codec,
      secret.key_id,
      secret.data,
      new Date(nowMs),
      input.disable_after_hours,
      maxWebhooks,
    ],
    { action: 'webhook.created', subject: id, detail: described(input) },
    nowMs,
    true,
  )
  return rows.map(webhookOf)[0]
}

/** Newest first. */
export async function listWebhooks(
  database: ProjectDatabase<OneProject>,
  range: { limit: number; offset: number },
): Promise<{ items: Webhook[]; total: number }> {
  const [rows, count] = await Promise.all([
    database.query<WebhookRow>(
      `${selectFrom('webhooks')} where :scope(w) and w.kind = 'webhook' order by w.created_at desc, w.id desc limit $2 offset $3`,
      [range.limit, range.offset],
    ),
    database.query<{ total: number }>(
      "select count(*)::integer as total from webhooks w where :scope(w) and w.kind = 'webhook'",
    ),
  ])
  return { items: rows.map(webhookOf), total: count[0]?.total ?? 0 }
}

export async function findWebhook(
  database: ProjectDatabase<OneProject>,
  webhookId: string,
): Promise<Webhook | undefined> {
  const rows = await database.query<WebhookRow>(
    `${selectFrom('webhooks')} where :scope(w) and w.kind = 'webhook' and w.id = $2`,
    [idToUuid(webhookId)],
  )
  return rows.map(webhookOf)[0]
}

/** A webhook or destination: the delivery log and its routes are the same for both. */
export async function findReceiver(
  database: ProjectDatabase<OneProject>,
  id: string,
): Promise<{ enabled: boolean } | undefined> {
  const rows = await database.query<{ enabled: boolean }>(
    'select w.enabled from webhooks w where :scope(w) and w.id = $2',
    [idToUuid(id)],
  )
  return rows[0]
}

/** Undefined fields stay. */
export async function updateWebhook(
  database: ProjectChanges,
  webhookId: string,
  changes: Partial<WebhookInput>,
  nowMs: number,
): Promise<Webhook | undefined> {
  const rows = await database.change<WebhookRow>(
    `with changed as (update webhooks w set url = coalesce($3, w.url), events = coalesce($4, w.events), filters = coalesce($5, w.filters),
       filter_expression = case when $6 then $7 else w.filter_expression end,
       expression_failure = case when $6 then null else w.expression_failure end,
       expression_failed_at = case when $6 then null else w.expression_failed_at end,
       enabled = coalesce($8, w.enabled), updated_at = $9,
       disable_after_hours = case when $10 then $11 else w.disable_after_hours end,
       failing_since = case when $8 then null else w.failing_since end,
       disabled_reason = case when $8 is null then w.disabled_reason end,
       disabled_at = case when $8 is null then w.disabled_at end
     where :scope(w) and w.kind = 'webhook' and w.id = $2 returning *) ${selectFrom('changed')}`,
    [
      idToUuid(webhookId),
      changes.url ?? null,
      changes.events ?? null,
      changes.filters === undefined ? null : JSON.stringify(changes.filters),
      changes.filter_expression !== undefined,
      changes.filter_expression ?? null,
      changes.enabled ?? null,
      new Date(nowMs),
      changes.disable_after_hours !== undefined,
      changes.disable_after_hours ?? null,
    ],
    { action: 'webhook.changed', subject: webhookId, detail: described(changes) },
    nowMs,
  )
  return rows.map(webhookOf)[0]
}

/**
 * The old secret also signs until `overlapUntilMs` or the next rotation, which keeps its own old secret in
 * that column. Until then it stays in the row, sealed.
 */
export async function rotateSecret(
  database: ProjectChanges,
  webhookId: string,
  secret: SealedBytes,
  overlapUntilMs: number,
  nowMs: number,
): Promise<Webhook | undefined> {
  const rows = await database.change<WebhookRow>(
    `with changed as (update webhooks w set previous_secret_codec = w.secret_codec, previous_secret_key_id = w.secret_key_id,
       previous_secret_data = w.secret_data, previous_secret_until = $6,
       secret_codec = $3, secret_key_id = $4, secret_data = $5, updated_at = $7
     where :scope(w) and w.kind = 'webhook' and w.id = $2 returning *) ${selectFrom('changed')}`,
    [
      idToUuid(webhookId),
      secret.codec,
      secret.key_id,
      secret.data,
      new Date(overlapUntilMs),
      new Date(nowMs),
    ],
    {
      action: 'webhook.secret_rotated',
      subject: webhookId,
      detail: { overlap_until: new Date(overlapUntilMs).toISOString() },
    },
    nowMs,
  )
  return rows.map(webhookOf)[0]
}

/** Hides its deliveries, which the sink deletes later. False: unknown webhook. */
export async function removeWebhook(
  database: ProjectDatabase<OneProject>,
  webhookId: string,
  nowMs: number,
): Promise<boolean> {
  const rows = await database.change(
    "delete from webhooks w where :scope(w) and w.kind = 'webhook' and w.id = $2 returning w.id",
    [idToUuid(webhookId)],
    { action: 'webhook.deleted', subject: webhookId },
    nowMs,
  )
  return rows.length > 0
}

/** For the audit log. Only the origin of the address: paths often contain secrets. */
function described({ url, ...rest }: Partial<WebhookInput>): Record<string, unknown> {
  return { ...rest, ...(url === undefined ? {} : { url: new URL(url).origin }) }
}

export function webhookOf(row: WebhookRow): Webhook {
  const { id, project_id, url, events, filters, filter_expression, enabled, disable_after_hours } = row
  const { last_status: status, last_at: at, last_status_code: status_code, last_error: error } = row
  const { deliveries, failed } = row
  return {
    ...{ url, events, filters, filter_expression, enabled, disable_after_hours },
    filter_expression_error:
      row.expression_failure === null || row.expression_failed_at === null
        ? null
        : { message: row.expression_failure, at: row.expression_failed_at.toISOString() },
    disabled_by_failures:
      row.disabled_reason === null || row.disabled_at === null
        ? null
        : { reason: row.disabled_reason, at: row.disabled_at.toISOString() },
    id: idFromUuid('webhook', id),
    project_id: idFromUuid('project', project_id),
    created_at: row.created_at.toISOString(),
    last_result: status === null || at === null ? null : { status, at: at.toISOString(), status_code, error },
    last_day: { deliveries, failed, failure_share: deliveries === 0 ? null : failed / deliveries },
  }
}
