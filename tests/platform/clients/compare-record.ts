import { isDeepStrictEqual } from 'node:util'
import { decodeContent } from '#capture/decode-content.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { seenInRecord } from '../../e2e/doors/seen-in-record.ts'
import { said } from './answers.ts'
import { headerOf, type Exchange } from './exchange.ts'
import type { ExpectedRecord } from './expected.ts'

const maxBytes = 64 * 1024 * 1024

/** Labels that the record must hold besides. */
export type ExpectedLabels = Partial<Record<'agent_name' | 'session_id' | 'user_id', string>>

/** In which fields a record is not what was sent and answered. */
export async function differencesInRecord(
  record: LoggedCall,
  { headers, body }: Exchange,
  wanted: ExpectedRecord,
  labels: ExpectedLabels = {},
): Promise<string[]> {
  const seen = seenInRecord(record)
  const fields: [string, unknown, unknown][] = [
    ['source', record.source, 'gateway'],
    ['type', record.type, null],
    ['provider', record.provider, wanted.provider],
    ['model', record.model, wanted.model],
    ['prompt_tokens', record.prompt_tokens, wanted.prompt_tokens],
    ['completion_tokens', record.completion_tokens, wanted.completion_tokens],
    ['status_code', record.status_code, 200],
    ['error', record.error, null],
    ['aborted_by', record.aborted_by, null],
    ['agent_name', record.agent_name, labels.agent_name ?? null],
    ['session_id', record.session_id, labels.session_id ?? null],
    ['user_id', record.user_id, labels.user_id ?? null],
    ['time_to_first_token_ms', seen.first_token, wanted.speaks && wanted.isStream],
    ['latency_ms', seen.latency, true],
    ['the answer', wanted.speaks ? seen.answer : undefined, wanted.speaks ? said : undefined],
    ['request_body', seen.request_body, await sentJson(headers, body)],
  ]
  return fields
    .filter(([, is, should]) => !isDeepStrictEqual(is, should))
    .map(([field, is, should]) => `${field} is ${shown(is)}, not ${shown(should)}`)
}

async function sentJson(headers: readonly string[], body: Buffer): Promise<unknown> {
  const encoding = headerOf(headers, 'content-encoding')
  const plain =
    encoding === undefined ? body : (await decodeContent(encoding, body, maxBytes, maxBytes))?.bytes
  return JSON.parse(plain?.toString() ?? '') as unknown
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 200)
}
