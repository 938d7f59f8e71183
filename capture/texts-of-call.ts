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

/** What was said in a call, by who said it. Parts of one kind are joined by line breaks. */
export interface CallTexts {
  /** Instructions of the application: system and developer messages. */
  system: string
  /** What users said (all turns); all texts of a request in a shape that is not known. */
  prompt: string
  /**
   * What the model answered in this call: all choices, refusals included, its thoughts and what says why it failed left out. All
   * texts of an answer in an unknown shape, and of a tool's.
   */
  answer: string
  /** Tools that the answer calls; of an `mcp_tool_call` record, itself. */
  toolCalls: readonly ToolCall[]
  /** What was given to the model as material: tool results, retrieved documents. One entry each. */
  context: readonly string[]
  /** The conversation before the answer, in order. `role` is `system`, `user`, `assistant` or `tool`. */
  messages: readonly SpokenText[]
}

export interface SpokenText {
  role: 'system' | 'user' | 'assistant' | 'tool'
  text: string
}

/** Reads the texts out of parsed bodies. Takes any JSON and never throws. */
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

/** Mistral's and vLLM's say so by their `object`. */
function isError(body: unknown): boolean {
  return errorOfAnswer(body, fieldAt(body, 'object') === 'error' ? 400 : null) !== null
}

/** Whether turns are in it, if without a word: pictures and PDFs are none. Words under a name that is not read are no such turns. */
function isConversation(body: unknown): boolean {
  return ['messages', 'contents'].some((name) =>
    listOf(fieldAt(body, name)).some(
      (turn) =>
        fieldAt(turn, 'role') !== undefined &&
        Array.isArray(fieldAt(turn, 'content') ?? fieldAt(turn, 'parts')),
    ),
  )
}

/** Where platforms for agents have what is asked now. */
const askedKeys = ['query', 'question', 'chatInput', 'inputText', 'input_value', 'user_input'] as const

/** Of a body of which nothing else is read these are not either: all its texts are the prompt then. */
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
    // Of a prompt that is kept at the provider what the user has put into it.
    ...Object.values(objectOf(fieldAt(body, 'prompt', 'variables')) ?? {}).flatMap((given) =>
      say('user', given),
    ),
    ...ofPlain(fieldAt(body, 'message')),
    ...ofPlain(fieldAt(body, 'contents')),
  ]
}

/** `input` of the responses shape (text or items), of embeddings (text or texts) and of interactions (text, parts or steps); `inputs` of conversations. */
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

/** Dify's and others': by whatever names an application has for them, `message` and `content` too. LangGraph has a conversation among them. */
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

/** One message of a conversation. A role that is not known counts as the user's: it is text from outside. */
function ofMessage(message: unknown): SpokenText[] {
  // LangChain's messages have a type instead.
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
      // What a conversation was shortened to has its user's words again.
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

/** Whether an answer without any text is one that simply has none (a tool call, an embedding), not one in an unknown shape. */
function isKnownAnswer(body: unknown): boolean {
  // LangChain's stored messages have theirs elsewhere.
  const isRun = runMessages(body).some((message) => fieldAt(message, 'content') !== undefined)
  if (isRun || isPrediction(body)) return true
  const listed = ['choices', 'candidates', 'output', 'steps', 'data'].find((name) =>
    Array.isArray(fieldAt(body, name)),
  )
  if (listed === 'choices' || listed === 'candidates' || shapeOfBodies(null, body) !== null) return true
  // Others have lists of these names too, of texts or of what they found.
  if (listed !== undefined) return listOf(fieldAt(body, listed)).every(isKnownItem)
  // Cohere's that broke off before its first word, Ollama's that only calls.
  if (['content', 'tool_calls'].some((name) => fieldAt(body, 'message', name) !== undefined)) return true
  const entries = outputEntries(body)
  return entries.length > 0 && entries.every(isKnownEntry)
}

/** An item or a step of a kind, a vector, a picture. */
function isKnownItem(item: unknown): boolean {
  return ['type', 'embedding', 'b64_json', 'url'].some((name) => fieldAt(item, name) !== undefined)
}

function spokenParts(content: unknown): unknown {
  return Array.isArray(content) ? content.filter((part) => toolResultOf(part) === undefined) : content
}

/** What tools that run at the provider brought into an answer: parts of the messages shape and of Gemini, items of the responses shape, steps of an interaction. */
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

/** What came of a call in the item that says it. */
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
