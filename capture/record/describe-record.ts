import { splitParts } from '../billed-parts.ts'
import { costOfCall } from '../call-cost.ts'
import { errorText } from '../answer-error.ts'
import { codeOfError } from '../error-code.ts'
import { describeCall, type CallDescription } from '../describe-call.ts'
import type { PriceTable } from '../price-table.ts'
import { providerOfCall } from '../providers.ts'
import { isToolCallRecord } from '../tool-calls.ts'
import { toolDefinitionsIn } from '../tool-definitions.ts'
import { faultOfTool } from '../tool-fault.ts'
import type { CallContext } from '#schemas/call-context.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { Tier } from '#schemas/tiers.ts'
import type { ToolDefinition } from '#schemas/tool-definition.ts'
import { withDeclaredContext } from './declared-context.ts'
import { previewOf } from './call-preview.ts'
import type { CallRecord } from './record-schema.ts'

type Tokens = Pick<CallContext, 'prompt_tokens' | 'completion_tokens' | 'cached_tokens' | 'reasoning_tokens'>

const maxDerivedLength = 256
/** A hostile answer can name very many tools. */
const maxToolNames = 100

type RecordFields = Omit<CallRecord, 'request_body' | 'response_body'>

/** What the bodies of a record reveal. */
interface BodiesDescription extends Omit<CallDescription, 'toolCalls'> {
  toolNames: readonly string[]
  toolDefinitions: readonly ToolDefinition[]
  /** The tool's own failure message; null if it did not fail, or for other records. */
  toolFault: string | null
}

/**
 * A record whose bodies have been read. Parsed bodies take many times their bytes and can be released now.
 */
export interface ReadCall {
  fields: RecordFields
  described: BodiesDescription
  /** JSON of a CallPreview; null without text. */
  preview: Buffer | null
}

export function readCall({
  request_body: requestBody,
  response_body: responseBody,
  ...fields
}: CallRecord): ReadCall {
  const { toolCalls, ...described } = describeCall({ requestBody, responseBody: responseBody ?? null })
  const fault = isToolCallRecord(requestBody) ? faultOfTool(responseBody) : undefined
  const toolFault = fault === undefined ? null : errorText(fault)
  return {
    fields,
    described: {
      ...described,
      toolNames: toolNamesOf(toolCalls),
      toolDefinitions: toolDefinitionsIn(requestBody),
      toolFault,
    },
    preview: previewOf(requestBody, responseBody, toolCalls),
  }
}

/** Describes a call by the record's own fields, with those of its bodies where the record has none. */
export function describeRecord(
  { fields: record, described }: ReadCall,
  project: { projectId: string; zeroContentRetention: boolean },
  tier: Tier,
  prices: PriceTable,
): CallContext & Pick<LoggedCall, 'tool_names' | 'masked' | 'tool_definitions'> {
  const model = record.model ?? derivedText(described.model) ?? 'unknown'
  const provider = record.provider ?? providerOfCall([record.model, described.model], described.shape)
  const tokens = tokensOf(record, described)
  const error = record.error ?? described.toolFault
  const metadata = withDeclaredContext(record.metadata ?? null, record.context)
  const { tokenParts, hostedUses } =
    record.billed_parts === null ? described : splitParts(record.billed_parts)
  return {
    project_id: project.projectId,
    tier,
    source: record.source,
    model,
    provider,
    agent_name: record.agent_name,
    agent_tag: record.agent_tag,
    session_id: record.session_id,
    user_id: record.user_id,
    type: derivedText(described.type),
    tool_name: derivedText(described.toolName),
    tool_names: [...described.toolNames],
    masked: record.masked,
    tool_definitions: [...described.toolDefinitions],
    ...tokens,
    cost_usd:
      record.cost_usd ??
      costOfCall(
        {
          model,
          provider,
          tokens: { ...tokens, ...writtenOf(record, described), parts: tokenParts },
          described: {
            ...described,
            hostedUses,
            serviceTier: record.service_tier?.toLowerCase() ?? described.serviceTier,
            isBrokenOff: described.isBrokenOff || record.aborted_by !== null,
            inferenceGeo: record.inference_geo?.toLowerCase() ?? described.inferenceGeo,
          },
        },
        prices,
      ),
    latency_ms: record.latency_ms,
    time_to_first_token_ms: record.time_to_first_token_ms,
    status_code: record.status_code,
    // Providers and tools quote their input.
    error: project.zeroContentRetention && error !== null ? codeOfError(error) : error,
    aborted_by: record.aborted_by,
    metadata: metadata === null ? null : JSON.stringify(metadata),
    zero_content_retention: project.zeroContentRetention,
  }
}

/**
 * The answer's usage fills prompt and cached tokens both or neither: clients differ in whether the prompt
 * includes its cached part, and a token must not be billed twice. The same for completion and reasoning.
 */
function tokensOf(record: RecordFields, described: BodiesDescription): Tokens {
  const inputKnown = record.prompt_tokens !== null
  const outputKnown = record.completion_tokens !== null
  return {
    prompt_tokens: record.prompt_tokens ?? described.promptTokens,
    cached_tokens: record.cached_tokens ?? (inputKnown ? null : described.cachedTokens),
    completion_tokens: record.completion_tokens ?? described.completionTokens,
    reasoning_tokens: record.reasoning_tokens ?? (outputKnown ? null : described.reasoningTokens),
  }
}

/** Cache writes are part of the prompt count, so both come from the same source. */
function writtenOf(record: RecordFields, { writtenTokens, writtenHourTokens }: BodiesDescription) {
  return record.prompt_tokens === null
    ? { written_tokens: writtenTokens, written_hour_tokens: writtenHourTokens }
    : {
        written_tokens: record.cache_write_tokens ?? 0,
        written_hour_tokens: record.cache_write_1h_tokens ?? 0,
      }
}

function toolNamesOf(toolCalls: CallDescription['toolCalls']): string[] {
  const names = toolCalls.map(({ name }) => derivedText(name)).filter((name) => name !== null)
  return [...new Set(names)].slice(0, maxToolNames)
}

/** Text from a body in a form that a database column can hold; the body itself is unchanged. */
function derivedText(text: string | null): string | null {
  if (text === null || text === '') return null
  return text.slice(0, maxDerivedLength).toWellFormed().replaceAll('\u0000', '\uFFFD')
}
