import { fieldAt, listOf, parseJson } from '#capture/json.ts'
import { textsOfCall } from '#capture/texts-of-call.ts'
import { createSealer } from '#runtime/sealing.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { conversations, image, tool } from './conversations.ts'

/** What a record has of a call, but for identifiers, sessions and times. */
export type Seen = Readonly<Record<keyof ReturnType<typeof fieldsOf>, unknown>>

export function seenInRecord(record: LoggedCall): Seen {
  return fieldsOf(record)
}

function fieldsOf(record: LoggedCall) {
  const [request, response] = [bodyOf(record, 'request_body'), bodyOf(record, 'response_body')]
  const { system, messages, answer, toolCalls, context } = textsOfCall(request, response)
  const [asked, answered] = [JSON.stringify(request ?? {}), JSON.stringify(response ?? {})]
  const thoughts = conversations.flatMap(({ answer: { thought } }) => thought ?? [])
  return {
    model: record.model,
    provider: record.provider,
    agent_name: record.agent_name,
    status_code: record.status_code,
    failed: record.error !== null,
    error: record.error,
    aborted_by: record.aborted_by,
    type: record.type,
    prompt_tokens: record.prompt_tokens,
    // Of none, some say so and others say nothing.
    cached_tokens: record.cached_tokens ?? 0,
    completion_tokens: record.completion_tokens,
    reasoning_tokens: record.reasoning_tokens ?? 0,
    cost_usd: record.cost_usd,
    latency: record.latency_ms !== null,
    first_token: record.time_to_first_token_ms !== null,
    instructions: system,
    messages: messages
      .filter(({ role }) => role !== 'system' && role !== 'tool')
      .map(({ role, text }) => [role, text]),
    tool_results: context,
    images: asked.includes(image),
    tools: asked.includes(tool.description),
    temperature: fieldAt(request, 'temperature') ?? null,
    answer,
    tool_calls: toolCalls.map(({ name, arguments: given }) => [name, parseJson(given) ?? given]),
    tool_names: record.tool_names,
    thoughts: thoughts.some((thought) => answered.includes(thought)),
    finish_reason: [
      ...listOf(fieldAt(response, 'choices')).map((choice) => fieldAt(choice, 'finish_reason') ?? null),
      fieldAt(response, 'stop_reason'),
    ].filter((reason) => reason !== undefined),
    not_read: [fieldAt(request, 'truncated') === true, fieldAt(response, 'truncated') === true],
    request_body: request,
    response_body: response,
  }
}

const sealer = createSealer([])

function bodyOf(record: LoggedCall, part: 'request_body' | 'response_body'): unknown {
  const sealed = record[part]
  if (sealed === null) return null
  const identity = sealedIdentity(record.project_id, record.id, part)
  return JSON.parse(sealer.open(sealed, identity).toString()) as unknown
}
