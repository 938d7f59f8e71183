/**
 * Content written by people: compressed, then encrypted where keys are configured, in topics, dead letters
 * and Postgres alike. Nothing between capture and reader needs to open it.
 */
export interface SealedBytes {
  /** How the opened bytes are compressed: `none` or `zstd`. */
  codec: string
  /** The encryption key (AES-256-GCM; nonce, ciphertext, tag); null without encryption. */
  key_id: string | null
  data: Buffer
}

/** Sealed bytes from their three columns; null: never kept, or deleted. */
export function sealedOf(
  codec: string | null,
  keyId: string | null,
  data: Buffer | null,
): SealedBytes | null {
  return codec === null || data === null ? null : { codec, key_id: keyId, data }
}

/** The bodies of a call as stored, all null without a row. */
export interface SealedBodyColumns {
  request_codec: string | null
  request_key_id: string | null
  request_data: Buffer | null
  response_codec: string | null
  response_key_id: string | null
  response_data: Buffer | null
}

export function sealedBodiesOf(row: SealedBodyColumns) {
  return {
    request: sealedOf(row.request_codec, row.request_key_id, row.request_data),
    response: sealedOf(row.response_codec, row.response_key_id, row.response_data),
  }
}

/** The Avro record. Named in full at its first use in a schema, then by name (`sluice.SealedBytes`). */
export const sealedBytesAvro = {
  type: 'record',
  name: 'SealedBytes',
  namespace: 'sluice',
  fields: [
    { name: 'codec', type: 'string' },
    { name: 'key_id', type: ['null', 'string'], default: null },
    { name: 'data', type: 'bytes' },
  ],
} as const

/**
 * The owner of a sealed value. It is the associated data of the encryption, so the value opens nowhere else.
 */
export type SealedPart =
  | 'request_body'
  | 'response_body'
  | 'call_preview'
  | 'score_details'
  | 'event_content'
  | 'webhook_secret'
  | 'destination_credentials'
  | 'value_hash_key'
  | 'scorer_preview'
  | 'waiting_call'

export function sealedIdentity(projectId: string, id: string, part: SealedPart): string {
  return `${projectId}/${id}/${part}`
}
