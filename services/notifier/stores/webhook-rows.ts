import { destinationKinds, type DestinationKind } from '#schemas/destinations.ts'
import { idFromUuid } from '#schemas/ids.ts'
import { sealedOf, type SealedBytes } from '#schemas/sealed-bytes.ts'

export interface Webhook {
  id: string
  projectId: string
  url: string
  events: readonly string[]
  /** Structured filters: field of `data` → the values that pass. */
  filters: Readonly<Record<string, readonly string[]>>
  filterExpression: string | null
  enabled: boolean
  /** Why the notifier disabled it; null if it did not. */
  disabledReason: string | null
  /** A delivery has failed for good and none was delivered since. */
  isFailing: boolean
  secret: SealedBytes
  /** The secret before a rotation, during its overlap. */
  previousSecret: SealedBytes | null
  kind: DestinationKind
  /** As its kind has them (schemas/destinations.ts). */
  settings: Readonly<Record<string, unknown>>
  /** A JSON object; null: none. */
  credentials: SealedBytes | null
  /** Whether a destination gets masked text of calls. */
  includeText: boolean
  maxPerMinute: number | null
  /** Changes with every change of the webhook. */
  version: string
}

/** A row of `webhooks` as {@link webhookColumns} reads it. */
export interface WebhookRow {
  id: string
  project_id: string
  url: string
  events: string[]
  filters: unknown
  filter_expression: string | null
  enabled: boolean
  disabled_reason: string | null
  is_failing: boolean
  secret_codec: string
  secret_key_id: string | null
  secret_data: Buffer
  previous_secret_codec: string | null
  previous_secret_key_id: string | null
  previous_secret_data: Buffer | null
  kind: string
  settings: Record<string, unknown>
  credentials_codec: string | null
  credentials_key_id: string | null
  credentials_data: Buffer | null
  include_text: boolean
  max_per_minute: number | null
  version: string
}

/** Changes with the row of `webhooks w`, and at the end of an overlap. */
export const webhookVersion = `w.xmin::text || case when w.previous_secret_until > now() then '+' else '' end`

/** Columns of `webhooks w`. The secret before a rotation is read during its overlap. */
export const webhookColumns = `w.id, w.project_id, w.url, w.events, w.filters, w.filter_expression, w.enabled, w.disabled_reason,
  w.failing_since is not null as is_failing, w.secret_codec, w.secret_key_id, w.secret_data, w.previous_secret_codec,
  w.previous_secret_key_id, case when w.previous_secret_until > now() then w.previous_secret_data end as previous_secret_data,
  w.kind, w.settings, w.credentials_codec, w.credentials_key_id, w.credentials_data, w.include_text, w.max_per_minute,
  ${webhookVersion} as version`

export function webhookOf(row: WebhookRow): Webhook {
  const kind = destinationKinds.find((one) => one === row.kind)
  return {
    id: idFromUuid('webhook', row.id),
    projectId: idFromUuid('project', row.project_id),
    url: row.url,
    events: row.events,
    filters: filtersOf(row.filters),
    filterExpression: row.filter_expression,
    enabled: row.enabled && kind !== undefined,
    disabledReason: kind === undefined ? `this version knows no ${row.kind}` : row.disabled_reason,
    isFailing: row.is_failing,
    secret: { codec: row.secret_codec, key_id: row.secret_key_id, data: row.secret_data },
    previousSecret: sealedOf(row.previous_secret_codec, row.previous_secret_key_id, row.previous_secret_data),
    kind: kind ?? 'webhook',
    settings: row.settings,
    credentials: sealedOf(row.credentials_codec, row.credentials_key_id, row.credentials_data),
    includeText: row.include_text,
    maxPerMinute: row.max_per_minute,
    version: row.version,
  }
}

/** The API checks filters when it saves them. Anything but a list of values filters nothing. */
function filtersOf(filters: unknown): Webhook['filters'] {
  if (typeof filters !== 'object' || filters === null) return {}
  const lists = Object.entries(filters).map(([field, values]): [string, string[]] => [
    field,
    Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [],
  ])
  return Object.fromEntries(lists)
}
