import type { DestinationKind } from '#schemas/destinations.ts'
import { idToUuid } from '#schemas/ids.ts'
import type { SealedBytes } from '#schemas/sealed-bytes.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'
import { maxWebhooks, selectFrom, webhookOf, type Webhook, type WebhookRow } from './webhook-store.ts'

export interface DestinationInput {
  kind: DestinationKind
  settings: object
  /** Null: the kind needs none. */
  credentials: SealedBytes | null
  /** As it is shown. */
  url: string
  events: readonly string[]
  filters: Readonly<Record<string, readonly string[]>>
  filter_expression: string | null
  enabled: boolean
  include_text: boolean
  max_per_minute: number | null
}

export type Destination = Omit<Webhook, 'disable_after_hours' | 'disabled_by_failures'> & {
  kind: DestinationKind
  settings: object
  has_credentials: boolean
  include_text: boolean
  max_per_minute: number | null
}

type DestinationRow = WebhookRow &
  Pick<Destination, 'kind' | 'settings' | 'has_credentials' | 'include_text' | 'max_per_minute'>

const more = `, w.kind, w.settings, w.credentials_data is not null as has_credentials, w.include_text, w.max_per_minute`
const isDestination = `w.kind <> 'webhook'`

/** Undefined: unknown project, or its limit, which it shares with webhooks. */
export async function createDestination(
  database: ProjectDatabase<OneProject>,
  id: string,
  input: DestinationInput,
  secret: SealedBytes,
  nowMs: number,
): Promise<Destination | undefined> {
  const { credentials } = input
  const rows = await database.change<DestinationRow>(
    `with w as (
       insert into webhooks (id, project_id, url, events, filters, filter_expression, enabled, secret_codec, secret_key_id,
         secret_data, created_at, updated_at, kind, settings, credentials_codec, credentials_key_id, credentials_data,
         include_text, max_per_minute)
       select $2, p.project_id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13, $14, $15, $16, $17, $18
       from subscriptions p
       where :scope(p) and (select count(*) from webhooks other where :scope(other)) < $19
       returning *)
     ${selectFrom('w', more)}`,
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
      input.kind,
      JSON.stringify(input.settings),
      credentials?.codec ?? null,
      credentials?.key_id ?? null,
      credentials?.data ?? null,
      input.include_text,
      input.max_per_minute,
      maxWebhooks,
    ],
    { action: 'destination.created', subject: id, detail: described(input) },
    nowMs,
    true,
  )
  return rows.map(destinationOf)[0]
}

/** Newest first. */
export async function listDestinations(
  database: ProjectDatabase<OneProject>,
  range: { limit: number; offset: number },
): Promise<{ items: Destination[]; total: number }> {
  const [rows, count] = await Promise.all([
    database.query<DestinationRow>(
      `${selectFrom('webhooks', more)} where :scope(w) and ${isDestination}
       order by w.created_at desc, w.id desc limit $2 offset $3`,
      [range.limit, range.offset],
    ),
    database.query<{ total: number }>(
      `select count(*)::integer as total from webhooks w where :scope(w) and ${isDestination}`,
    ),
  ])
  return { items: rows.map(destinationOf), total: count[0]?.total ?? 0 }
}

export async function findDestination(
  database: ProjectDatabase<OneProject>,
  destinationId: string,
): Promise<Destination | undefined> {
  const rows = await database.query<DestinationRow>(
    `${selectFrom('webhooks', more)} where :scope(w) and ${isDestination} and w.id = $2`,
    [idToUuid(destinationId)],
  )
  return rows.map(destinationOf)[0]
}

/** Undefined fields stay. */
export async function updateDestination(
  database: ProjectDatabase<OneProject>,
  destinationId: string,
  changes: Partial<Omit<DestinationInput, 'kind'>>,
  nowMs: number,
): Promise<Destination | undefined> {
  const { credentials } = changes
  const rows = await database.change<DestinationRow>(
    `with changed as (update webhooks w set url = coalesce($3, w.url), settings = coalesce($4, w.settings),
       credentials_codec = case when $5 then $6 else w.credentials_codec end,
       credentials_key_id = case when $5 then $7 else w.credentials_key_id end,
       credentials_data = case when $5 then $8 else w.credentials_data end,
       events = coalesce($9, w.events), filters = coalesce($10, w.filters),
       filter_expression = case when $11 then $12 else w.filter_expression end,
       expression_failure = case when $11 then null else w.expression_failure end,
       expression_failed_at = case when $11 then null else w.expression_failed_at end,
       enabled = coalesce($13, w.enabled), include_text = coalesce($14, w.include_text),
       max_per_minute = case when $15 then $16 else w.max_per_minute end, updated_at = $17
     where :scope(w) and ${isDestination} and w.id = $2 returning *) ${selectFrom('changed', more)}`,
    [
      idToUuid(destinationId),
      changes.url ?? null,
      changes.settings === undefined ? null : JSON.stringify(changes.settings),
      credentials !== undefined,
      credentials?.codec ?? null,
      credentials?.key_id ?? null,
      credentials?.data ?? null,
      changes.events ?? null,
      changes.filters === undefined ? null : JSON.stringify(changes.filters),
      changes.filter_expression !== undefined,
      changes.filter_expression ?? null,
      changes.enabled ?? null,
      changes.include_text ?? null,
      changes.max_per_minute !== undefined,
      changes.max_per_minute ?? null,
      new Date(nowMs),
    ],
    { action: 'destination.changed', subject: destinationId, detail: described(changes) },
    nowMs,
  )
  return rows.map(destinationOf)[0]
}

/** Hides its deliveries, which the sink deletes later. False: unknown destination. */
export async function removeDestination(
  database: ProjectDatabase<OneProject>,
  destinationId: string,
  nowMs: number,
): Promise<boolean> {
  const rows = await database.change(
    `delete from webhooks w where :scope(w) and ${isDestination} and w.id = $2 returning w.id`,
    [idToUuid(destinationId)],
    { action: 'destination.deleted', subject: destinationId },
    nowMs,
  )
  return rows.length > 0
}

/** For the audit log: no credentials, and of an address its origin. */
function described({
  credentials,
  url,
  settings,
  ...rest
}: Partial<DestinationInput>): Record<string, unknown> {
  const names = settings === undefined ? {} : { settings: Object.keys(settings) }
  const address = url === undefined || !URL.canParse(url) ? {} : { address: new URL(url).host }
  return { ...rest, ...names, ...address, ...(credentials === undefined ? {} : { credentials: 'changed' }) }
}

function destinationOf(row: DestinationRow): Destination {
  const { disable_after_hours: _hours, disabled_by_failures: _disabled, ...shared } = webhookOf(row)
  const { kind, settings, has_credentials, include_text, max_per_minute } = row
  return { ...shared, kind, settings, has_credentials, include_text, max_per_minute }
}
