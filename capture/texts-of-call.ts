import { allTexts } from './all-texts.ts'
import { errorOfAnswer } from './answer-error.ts'
import { shapeOfBodies } from './call-shapes.ts'
import { contentTexts, toolResultOf } from './content-texts.ts'
import { newSteps } from './interaction-steps.ts'
import { fieldAt, listOf } from './json.ts'
import { isKnownEntry, outputEntries, saidInOutputs } from './output-entries.ts'
import { payloadOf, unwrapped } from './payload-of.ts'
import { runToolResults, isPrediction, runMessages, platformTexts } from './platform-answers.ts'
import { quotedIn } from './quoted-sources.ts'
import { isConversation, messagesOf, type SpokenText } from './request-messages.ts'
import { isToolCallRecord, toolCallsOf, type ToolCall } from './tool-calls.ts'
import { outputsIn, resultKeys, suppliedKeys, textsOfResult } from './tool-results.ts'

/** The texts of a call, by speaker. Texts of one kind are joined by line breaks. */
export interface CallTexts {
  /** Instructions of the application: system and developer messages. */
  system: string
  /** User messages of all turns; for an unknown shape, all texts of the request. */
  prompt: string
  /**
   * The model's answer: all choices and refusals, without thoughts and error messages. For an unknown shape
   * or a tool result, all texts.
   */
  answer: string
  /** Tools called by the answer, or by the `mcp_tool_call` record itself. */
  toolCalls: readonly ToolCall[]
  /** Material given to the model: tool results and retrieved documents, one entry each. */
  context: readonly string[]
  /** The conversation before the answer, in order. */
  messages: readonly SpokenText[]
}

/** Reads the texts of parsed bodies. Accepts any JSON and never throws. */
export function textsOfCall(requestBody: unknown, responseBody: unknown): CallTexts {
  const messages = messagesOf(requestBody)
  const spoken = (role: SpokenText['role']) =>
    messages.filter((message) => message.role === role).map(({ text }) => text)
  const toolCalls = toolCallsOf(requestBody, responseBody)
  const known = messages.length > 0 || isConversation(requestBody)
  const modelsAnswer = isToolCallRecord(requestBody) ? undefined : responseBody
  const material = [...spoken('tool'), ...documentsOf(requestBody), ...hostedToolResults(modelsAnswer)]
  return {
    system: spoken('system').join('\n'),
    prompt: (known ? spoken('user') : allTexts(payloadOf(requestBody))).join('\n'),
    answer: answerTexts(requestBody, responseBody).join('\n'),
    toolCalls,
    context: [...material, ...quotedIn(modelsAnswer, material)],
    messages,
  }
}

/** The texts of the answer alone, as in CallTexts. Accepts any JSON and never throws. */
export function answerTexts(requestBody: unknown, responseBody: unknown): string[] {
  if (isToolCallRecord(requestBody)) return textsOfResult(unwrapped(responseBody))
  const answer = answerOf(responseBody)
  const hasNoAnswer = isKnownAnswer(responseBody) || isError(unwrapped(responseBody))
  return answer.length > 0 || hasNoAnswer ? answer : allTexts(payloadOf(responseBody))
}

/** Mistral and vLLM mark errors by `object`. */
function isError(body: unknown): boolean {
  return errorOfAnswer(body, fieldAt(body, 'object') === 'error' ? 400 : null) !== null
}

function answerOf(body: unknown): string[] {
  const spoken = (value: unknown) => contentTexts(value)
  return [
    ...listOf(fieldAt(body, 'choices')).flatMap((choice) => [
      ...spoken(fieldAt(choice, 'message', 'content')),
      ...spoken(fieldAt(choice, 'message', 'refusal')),
      ...spoken(fieldAt(choice, 'message', 'audio')),
      ...spoken(fieldAt(choice, 'text')),
    ]),
    ...listOf(fieldAt(body, 'output'))
      // A compacted conversation repeats the user's messages.
      .filter((item) => fieldAt(item, 'type') === 'message' && fieldAt(item, 'role') !== 'user')
      .flatMap((item) => spoken(fieldAt(item, 'content'))),
    ...newSteps(body)
      .filter((step) => fieldAt(step, 'type') === 'model_output')
      .flatMap((step) => spoken(fieldAt(step, 'content'))),
    ...saidInOutputs(body).flatMap(spoken),
    ...spoken(fieldAt(body, 'output', 'message', 'content')),
    ...spoken(fieldAt(body, 'message', 'content')),
    ...spoken(spokenParts(fieldAt(body, 'content'))),
    ...listOf(fieldAt(body, 'candidates')).flatMap((candidate) =>
      spoken(fieldAt(candidate, 'content', 'parts')),
    ),
    ...platformTexts(body).flatMap(spoken),
    ...spoken(fieldAt(body, 'response')),
    ...spoken(fieldAt(body, 'text')),
  ]
}

/**
 * Whether an answer without text is known to have none (a tool call, an embedding), rather than of unknown
 * shape.
 */
function isKnownAnswer(body: unknown): boolean {
  // LangChain's stored messages have no `content` here.
  const isRun = runMessages(body).some((message) => fieldAt(message, 'content') !== undefined)
  if (isRun || isPrediction(body)) return true
  const listed = ['choices', 'candidates', 'output', 'steps', 'data'].find((name) =>
    Array.isArray(fieldAt(body, name)),
  )
  if (listed === 'choices' || listed === 'candidates' || shapeOfBodies(null, body) !== null) return true
  // Other formats use these names for lists of texts or results.
  if (listed !== undefined) return listOf(fieldAt(body, listed)).every(isKnownItem)
  // A Cohere answer that broke off before its first word, or an Ollama answer with only tool calls.
  if (['content', 'tool_calls'].some((name) => fieldAt(body, 'message', name) !== undefined)) return true
  const entries = outputEntries(body)
  return entries.length > 0 && entries.every(isKnownEntry)
}

/** A typed item, a vector or an image. */
function isKnownItem(item: unknown): boolean {
  return ['type', 'embedding', 'b64_json', 'url'].some((name) => fieldAt(item, name) !== undefined)
}

function spokenParts(content: unknown): unknown {
  return Array.isArray(content) ? content.filter((part) => toolResultOf(part) === undefined) : content
}

/**
 * Results of hosted tools within an answer: parts of messages and of Gemini, items of responses, steps of
 * interactions.
 */
function hostedToolResults(body: unknown): string[] {
  const parts = [
    ...listOf(fieldAt(body, 'content')),
    ...listOf(fieldAt(body, 'candidates')).flatMap((candidate) =>
      listOf(fieldAt(candidate, 'content', 'parts')),
    ),
  ].map(toolResultOf)
  const entries = outputEntries(body)
  const executed = listOf(fieldAt(body, 'choices')).flatMap((choice) =>
    listOf(fieldAt(choice, 'message', 'executed_tools')),
  )
  const items = [...listOf(fieldAt(body, 'output')), ...entries, ...executed]
  const results = [...newSteps(body), ...items].map(toolResultOf)
  return [...parts, ...items.flatMap(outputsIn), ...results, ...runToolResults(body).map(contentTexts)]
    .map((found) => allTexts(found).join('\n'))
    .filter((text) => text !== '')
}

function documentsOf(body: unknown): string[] {
  return [...suppliedKeys, ...resultKeys].flatMap((name) => {
    const given = fieldAt(body, name)
    const entries = Array.isArray(given) ? listOf(given) : [given]
    return entries.map((entry) => allTexts(entry).join('\n')).filter((text) => text !== '')
  })
}
