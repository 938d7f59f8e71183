import { idFromUuid, type IdKind } from '#schemas/ids.ts'
import { sealedIdentity, type SealedPart } from '#schemas/sealed-bytes.ts'

type KeyType = 'uuid' | 'timestamptz' | 'bigint'

/** Three columns of a table that hold sealed bytes: `<prefix>codec`, `<prefix>key_id`, `<prefix>data`. */
export interface SealedColumn {
  table: string
  prefix: string
  /** The primary key, in order. */
  key: Readonly<Record<string, KeyType>>
  /** Other columns of the identity. */
  also: readonly string[]
  identityOf: (row: Readonly<Record<string, string | null>>) => string
}

function sealed(
  table: string,
  prefix: string,
  part: SealedPart,
  key: SealedColumn['key'],
  [idKind, idColumn]: readonly [IdKind, string],
): SealedColumn {
  const hasContentId = part === 'event_content'
  return {
    table,
    prefix,
    key,
    also: ['project_id', idColumn, ...(hasContentId ? ['content_id'] : [])].filter(
      (column) => !(column in key),
    ),
    identityOf(row) {
      const project = idFromUuid('project', row['project_id'] ?? '')
      const contentId = hasContentId ? row['content_id'] : null
      return sealedIdentity(project, contentId ?? idFromUuid(idKind, row[idColumn] ?? ''), part)
    },
  }
}

const ofDay = { project_id: 'uuid', request_id: 'uuid', created_at: 'timestamptz' } as const
const ofScore = { project_id: 'uuid', score_id: 'uuid', request_created_at: 'timestamptz' } as const
const byId = { id: 'uuid' } as const

/** All columns that BODY_ENCRYPTION_KEYS encrypts; a test compares them with the tables. */
export const sealedColumns: readonly SealedColumn[] = [
  sealed('llm_request_bodies', 'request_', 'request_body', ofDay, ['request', 'request_id']),
  sealed('llm_request_bodies', 'response_', 'response_body', ofDay, ['request', 'request_id']),
  sealed('request_previews', '', 'call_preview', ofDay, ['request', 'request_id']),
  sealed('safety_score_details', '', 'score_details', ofScore, ['score', 'score_id']),
  sealed('event_outbox', 'content_', 'event_content', { seq: 'bigint' }, ['event', 'id']),
  sealed('webhook_deliveries', 'content_', 'event_content', byId, ['event', 'event_id']),
  sealed('value_hash_keys', '', 'value_hash_key', { project_id: 'uuid' }, ['project', 'project_id']),
  sealed('webhooks', 'secret_', 'webhook_secret', byId, ['webhook', 'id']),
  sealed('webhooks', 'previous_secret_', 'webhook_secret', byId, ['webhook', 'id']),
  sealed('webhooks', 'credentials_', 'destination_credentials', byId, ['webhook', 'id']),
  sealed('scorer_previews', 'hits_', 'scorer_preview', byId, ['scorerPreview', 'id']),
  sealed('waiting_calls', '', 'waiting_call', { project_id: 'uuid', id: 'uuid' }, ['request', 'id']),
]
