import { allTexts } from './all-texts.ts'
import { errorOfAnswer } from './answer-error.ts'
import { shapeOfBodies } from './call-shapes.ts'
import { contentTexts, toolResultOf } from './content-texts.ts'
import { newSteps } from './interaction-steps.ts'
import { fieldAt, listOf, objectOf, textOf, type JsonObject } from './json.ts'
import { isKnownEntry, outputEntries, saidInOutputs } from './output-entries.ts'
import { payloadOf, unwrapped } from './payload-of.ts'
import { broughtByRun, isPrediction, runMessages, saidByPlatform } from './platform-answers.ts'
import { quotedIn } from './quoted-sources.ts'
import { isToolCallRecord, toolCallsOf, type ToolCall } from './tool-calls.ts'
import {
  isBytes,
  isCallType,
  isOutputOfCall,
  resultKeys,
  suppliedKeys,
  textsOfResult,
} from './tool-results.ts'

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

export interface SpokenText {
  role: 'system' | 'user' | 'assistant' | 'tool'
  text: string
}

/** Reads the texts of parsed bodies. Accepts any JSON and never throws. */
export function textsOfCall(requestBody: unknown, responseBody: unknown): CallTexts {
  const messages = messagesOf(requestBody)
  const spoken = (role: SpokenText['role']) =>
    messages.filter((message) => message.role === role).map(({ text }) => text)
  const isOfTool = isToolCallRecord(requestBody)
  const answer = isOfTool ? textsOfResult(unwrapped(responseBody)) : answerOf(responseBody)
  const toolCalls = toolCallsOf(requestBody, responseBody)
  const known = messages.length > 0 || isConversation(requestBody)
  const modelsAnswer = isOfTool ? undefined : responseBody
  const hasNoAnswer = isKnownAnswer(responseBody) || isError(unwrapped(responseBody))
  const brought = [...spoken('tool'), ...documentsOf(requestBody), ...broughtBy(modelsAnswer)]
  return {
    system: spoken('system').join('\n'),
    prompt: (known ? spoken('user') : allTexts(payloadOf(requestBody))).join('\n'),
    answer: (isOfTool || answer.length > 0 || hasNoAnswer ? answer : allTexts(payloadOf(responseBody))).join(
      '\n',
    ),
    toolCalls,
    context: [...brought, ...quotedIn(modelsAnswer, brought)],
    messages,
  }
}

/** Mistral and vLLM mark errors by `object`. */
function isError(body: unknown): boolean {
  return errorOfAnswer(body, fieldAt(body, 'object') === 'error' ? 400 : null) !== null
}

/**
 * Whether the body has turns, even if they have no text (images, PDFs). Text under an unknown name does not
 * count.
 */
function isConversation(body: unknown): boolean {
  return ['messages', 'contents'].some((name) =>
    listOf(fieldAt(body, name)).some(
      (turn) =>
        fieldAt(turn, 'role') !== undefined &&
        Array.isArray(fieldAt(turn, 'content') ?? fieldAt(turn, 'parts')),
    ),
  )
}

/** Names for the current question on agent platforms. */
const askedKeys = ['query', 'question', 'chatInput', 'inputText', 'input_value', 'user_input'] as const

/** Only next to other messages: otherwise the shape is unknown, and all texts are the prompt. */
function messagesOf(body: unknown): SpokenText[] {
  const found = givenMessages(body)
  if (found.length === 0 && !isConversation(body)) return found
  const asked = askedKeys.flatMap((name) => ofPlain(fieldAt(body, name)))
  return [...found, ...listOf(fieldAt(body, 'additional_messages')).flatMap(ofMessage), ...asked]
}

function givenMessages(body: unknown): SpokenText[] {
  return [
    ...say('system', fieldAt(body, 'system') ?? fieldAt(body, 'instructions') ?? fieldAt(body, 'preamble')),
    ...say('system', fieldAt(body, 'systemInstruction') ?? fieldAt(body, 'system_instruction')),
    ...listOf(fieldAt(body, 'messages')).flatMap(ofMessage),
    ...listOf(fieldAt(body, 'chat_history')).flatMap(ofMessage),
    ...listOf(fieldAt(body, 'contents')).flatMap(ofMessage),
    ...ofInput(fieldAt(body, 'input')),
    ...ofInput(fieldAt(body, 'inputs')),
    ...ofPlain(fieldAt(body, 'prompt')),
    // Variables that the user fills into a prompt stored at the provider.
    ...Object.values(objectOf(fieldAt(body, 'prompt', 'variables')) ?? {}).flatMap((given) =>
      say('user', given),
    ),
    ...ofPlain(fieldAt(body, 'message')),
    ...ofPlain(fieldAt(body, 'contents')),
  ]
}

/**
 * `input` of responses (text or items), embeddings (text or texts) and interactions (text, parts or steps);
 * `inputs` of conversations.
 */
function ofInput(input: unknown): SpokenText[] {
  const items = Array.isArray(input) ? listOf(input) : [input]
  return items.flatMap((item) => {
    if (typeof item === 'string') return say('user', item)
    const type = textOf(fieldAt(item, 'type'))
    if (type === 'text') return say('user', item)
    if (type === 'model_output' || type === 'message.output')
      return say('assistant', fieldAt(item, 'content'))
    const found = toolResultOf(item)
    if (found !== undefined) return say('tool', found)
    if (isCallType(type)) return say('tool', outputsIn(item))
    if (!Array.isArray(input) && isVariables(item)) return ofVariables(item)
    return ofMessage(item)
  })
}

/**
 * Variables of Dify and others, with any names, including `message` and `content`. LangGraph's include a
 * conversation.
 */
function ofVariables({ messages, ...others }: JsonObject): SpokenText[] {
  const isSpoken = Array.isArray(messages) && messages.every(isMessage)
  const said = isSpoken ? listOf(messages).flatMap(ofMessage) : say('user', allTexts(messages))
  return [...said, ...say('user', allTexts(others))]
}

function isVariables(item: unknown): item is JsonObject {
  const object = objectOf(item)
  return object !== undefined && !('role' in object) && !('type' in object)
}

function isMessage(item: unknown): boolean {
  return fieldAt(item, 'content') !== undefined
}

/** `prompt` of completions: one text or several. */
function ofPlain(value: unknown): SpokenText[] {
  if (typeof value === 'string') return say('user', value)
  return listOf(value).flatMap((item) => (typeof item === 'string' ? say('user', item) : []))
}

const roles: Readonly<Record<string, SpokenText['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  model: 'assistant',
  chatbot: 'assistant',
  ai: 'assistant',
  tool: 'tool',
  function: 'tool',
}

/** A message of a conversation. An unknown role counts as the user's, as its text comes from outside. */
function ofMessage(message: unknown): SpokenText[] {
  // LangChain uses `type` instead of `role`.
  const given = textOf(fieldAt(message, 'role') ?? fieldAt(message, 'type'))?.toLowerCase() ?? 'user'
  const role = (Object.hasOwn(roles, given) ? roles[given] : undefined) ?? 'user'
  const content = fieldAt(message, 'content') ?? fieldAt(message, 'parts') ?? fieldAt(message, 'message')
  const parts = Array.isArray(content) ? listOf(content) : [content]
  const isResult = (part: unknown) => toolResultOf(part) !== undefined
  return [
    ...parts.filter(isResult).flatMap((part) => say('tool', toolResultOf(part))),
    ...say(
      role,
      parts.filter((part) => !isResult(part)),
    ),
  ]
}

function say(role: SpokenText['role'], content: unknown): SpokenText[] {
  const text = contentTexts(content).join('\n')
  return text === '' ? [] : [{ role, text }]
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
    ...saidByPlatform(body).flatMap(spoken),
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
function broughtBy(body: unknown): string[] {
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
  return [...parts, ...items.flatMap(outputsIn), ...results, ...broughtByRun(body).map(contentTexts)]
    .map((found) => allTexts(found).join('\n'))
    .filter((text) => text !== '')
}

/** Results contained in a call's own item. */
function outputsIn(call: unknown): string[] {
  return Object.entries(objectOf(call) ?? {})
    .filter(([name]) => isOutputOfCall(call, name))
    .map(([, output]) =>
      textsOfResult(output)
        .filter((text) => !isBytes(text))
        .join('\n'),
    )
    .filter((text) => text !== '')
}

function documentsOf(body: unknown): string[] {
  return [...suppliedKeys, ...resultKeys].flatMap((name) => {
    const given = fieldAt(body, name)
    const entries = Array.isArray(given) ? listOf(given) : [given]
    return entries.map((entry) => allTexts(entry).join('\n')).filter((text) => text !== '')
  })
}
