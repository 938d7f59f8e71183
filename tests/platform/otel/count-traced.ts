import { fieldAt, listOf, type JsonObject } from '#capture/json.ts'
import { createSealer } from '#runtime/sealing.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import type { Traced } from './instrumentations.ts'
import { said, toolCall } from './start-provider.ts'

export type Counts = Omit<Traced, 'program'>

/** Counts what the records of an instrumentation have; throws for one that is wrong. */
export function countTraced(records: readonly LoggedCall[]): Counts {
  const counts: Counts = { models: 0, tools: 0, asked: 0, said: 0, cached: 0, reasoning: 0, agents: 0 }
  for (const record of records) {
    const [request, response] = [bodyOf(record, 'request_body'), bodyOf(record, 'response_body')]
    if (record.source !== 'otel') throw new Error(`the source is ${record.source}`)
    if (record.agent_name === 'helper') counts.agents += 1
    if (fieldAt(request, 'type') === 'mcp_tool_call') {
      counts.tools += 1
      checkTool(request, response)
      continue
    }
    counts.models += 1
    checkTokens(record)
    if (record.cached_tokens !== null) counts.cached += 1
    if (record.reasoning_tokens !== null) counts.reasoning += 1
    if (hasWords(request, isAsked)) counts.asked += 1
    if (hasWords(response, isSaid)) counts.said += 1
  }
  return counts
}

const sealer = createSealer([])

function bodyOf(record: LoggedCall, part: 'request_body' | 'response_body'): JsonObject {
  const sealed = record[part]
  if (sealed === null) throw new Error(`a record has no ${part}`)
  const identity = sealedIdentity(record.project_id, record.id, part)
  return JSON.parse(sealer.open(sealed, identity).toString()) as JsonObject
}

/** The words as they were, or the mark that they are missing. */
function hasWords(body: JsonObject, isRight: (body: JsonObject) => boolean): boolean {
  if (isRight(body)) return true
  if (body['truncated'] === true) return false
  throw new Error(`neither the words nor their mark: ${JSON.stringify(body)}`)
}

function isAsked(request: JsonObject): boolean {
  const messages = listOf(request['messages']).map((message) => [
    fieldAt(message, 'role'),
    fieldAt(message, 'content'),
  ])
  const isBegun =
    JSON.stringify(messages.slice(0, 2)) ===
    JSON.stringify([
      ['system', 'Be brief.'],
      ['user', 'What is a sluice?'],
    ])
  // Those after a tool's call: the call, and its result.
  const [called, result, ...more] = listOf(request['messages']).slice(2)
  return (
    isBegun &&
    more.length === 0 &&
    (called === undefined || (isCall(called) && hasResult(fieldAt(result, 'content'))))
  )
}

function isSaid(response: JsonObject): boolean {
  const [message, ...more] = listOf(response['choices']).map((choice) => fieldAt(choice, 'message'))
  return more.length === 0 && (fieldAt(message, 'content') === said || isCall(message))
}

function isCall(message: unknown): boolean {
  const [call] = listOf(fieldAt(message, 'tool_calls')).map((one) => fieldAt(one, 'function'))
  return (
    fieldAt(call, 'name') === toolCall.name &&
    fieldAt(call, 'arguments') === JSON.stringify(toolCall.arguments)
  )
}

const hasResult = (content: unknown) => typeof content === 'string' && content.includes('sluice: a gate')

function checkTool(request: JsonObject, response: JsonObject): void {
  const isRight =
    request['tool_name'] === toolCall.name &&
    JSON.stringify(request['arguments']) === JSON.stringify(toolCall.arguments) &&
    Object.values(response).some(hasResult)
  if (!isRight) throw new Error(`a tool's call is ${JSON.stringify({ request, response })}`)
}

/** Disjoint: with what is apart, the prompt has 12 and the answer 6. */
function checkTokens(record: LoggedCall): void {
  const {
    prompt_tokens: prompt,
    completion_tokens: completion,
    cached_tokens: cached,
    reasoning_tokens: reasoning,
    model,
  } = record
  const isRight =
    model === 'model-1' &&
    (prompt ?? 0) + (cached ?? 0) === 12 &&
    [null, 4].includes(cached) &&
    (completion ?? 0) + (reasoning ?? 0) === 6 &&
    [null, 2].includes(reasoning)
  if (!isRight)
    throw new Error(`the tokens are ${JSON.stringify({ model, prompt, cached, completion, reasoning })}`)
}
