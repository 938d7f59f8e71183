import { callContextAvro, type CallContext } from './call-context.ts'
import { maskedValueAvro, type MaskedValue } from './masked-value.ts'
import { searchSignatureAvro, type SearchSignature } from './search-signature.ts'
import { toolDefinitionAvro, type ToolDefinition } from './tool-definition.ts'
import { sealedBytesAvro, type SealedBytes } from './sealed-bytes.ts'

/**
 * One captured model or tool call. Its identity is `(project_id, id)`; its `created_at` is the time in `id`.
 */
export interface LoggedCall extends CallContext {
  /** `req_…` */
  id: string
  /** JSON text as received, sealed; null where the project keeps no content. */
  request_body: SealedBytes | null
  response_body: SealedBytes | null
  /** The called tools, each once: by the record itself for a tool call, else by the answer. */
  tool_names: string[]
  /** What an MCP server says of its tools, where the record is that; else none. */
  tool_definitions: ToolDefinition[]
  /** Unix milliseconds when ingest (or the gateway) took it. */
  received_at: number
  /** One line of prompt and answer (JSON), sealed; null: no text, no content kept, or an older writer. */
  preview: SealedBytes | null
  /** Null: no content kept, no SEARCH_KEY, or an older writer. */
  search: SearchSignature | null
  /** What was masked in it before; null or absent: the project does not mask, or an older writer. */
  masked?: readonly MaskedValue[] | null | undefined
}

export const llmRequestLoggedAvro = {
  type: 'record',
  name: 'LlmRequestLogged',
  namespace: 'sluice',
  fields: [
    { name: 'id', type: 'string' },
    ...callContextAvro,
    { name: 'request_body', type: ['null', sealedBytesAvro], default: null },
    { name: 'response_body', type: ['null', 'sluice.SealedBytes'], default: null },
    { name: 'tool_names', type: { type: 'array', items: 'string' }, default: [] },
    { name: 'received_at', type: 'long' },
    { name: 'preview', type: ['null', 'sluice.SealedBytes'], default: null },
    { name: 'search', type: ['null', searchSignatureAvro], default: null },
    { name: 'masked', type: ['null', { type: 'array', items: maskedValueAvro }], default: null },
    { name: 'tool_definitions', type: { type: 'array', items: toolDefinitionAvro }, default: [] },
  ],
} as const
