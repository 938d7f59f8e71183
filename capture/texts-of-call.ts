import { allTexts } from './all-texts.ts'
import { newSteps } from './interaction-steps.ts'
import { fieldAt, listOf, objectOf, textOf } from './json.ts'
import { isKnownEntry, outputEntries, saidInOutputs } from './output-entries.ts'
import { quotedIn } from './quoted-sources.ts'
import { toolCallsOf, type ToolCall } from './tool-calls.ts'
import {
  isCallType,
  isResultType,
  outputsOfCall,
  resultKeys,
  suppliedKeys,
  wordsOfResult,
} from './tool-results.ts'

/** What was said in a call, by who said it. Parts of one kind are joined by line breaks. */
export interface CallTexts {
  /** Instructions of the application: system and developer messages. */
  system: string
  /** What users said (all turns); all texts of a request in a shape that is not known. */
  prompt: string
  /** What the model answered in this call (all choices, refusals included); all texts of an answer in an unknown shape. */
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
  const answer = answerOf(responseBody)
  const toolCalls = toolCallsOf(requestBody, responseBody)
  const known = messages.length > 0
  return {
    system: spoken('system').join('\n'),
    prompt: (known ? spoken('user') : allTexts(payloadOf(requestBody))).join('\n'),
    answer: (answer.length > 0 || isKnownAnswer(responseBody)
      ? answer
      : allTexts(payloadOf(responseBody))
    ).join('\n'),
    toolCalls,
    context: [
      ...spoken('tool'),
      ...documentsOf(requestBody),
      ...broughtBy(responseBody),
      ...quotedIn(responseBody),
    ],
    messages,
  }
}

/** What is said in a body of no known shape: a tool call's arguments, the text of one that the gateway had to wrap, or all. */
function payloadOf(body: unknown): unknown {
  if (fieldAt(body, 'type') === 'mcp_tool_call') return fieldAt(body, 'arguments')
  if (fieldAt(body, 'truncated') === true) return fieldAt(body, 'text')
  if (fieldAt(body, 'encoding') === 'utf8') return fieldAt(body, 'raw')
  return body
}

function messagesOf(body: unknown): SpokenText[] {
  return [
    ...say('system', fieldAt(body, 'system') ?? fieldAt(body, 'instructions') ?? fieldAt(body, 'preamble')),
    ...say('system', fieldAt(body, 'systemInstruction') ?? fieldAt(body, 'system_instruction')),
    ...listOf(fieldAt(body, 'messages')).flatMap(ofMessage),
    ...listOf(fieldAt(body, 'chat_history')).flatMap(ofMessage),
    ...listOf(fieldAt(body, 'contents')).flatMap(ofMessage),
    ...ofInput(fieldAt(body, 'input')),
    ...ofInput(fieldAt(body, 'inputs')),
    ...ofPlain(fieldAt(body, 'prompt')),
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
    return ofMessage(item)
  })
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
  const given = textOf(fieldAt(message, 'role'))?.toLowerCase() ?? 'user'
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

/** The words of the result in a part, an item or a step that is one. What a server says of its tools is offered, and no result. */
function toolResultOf(part: unknown): unknown {
  const type = textOf(fieldAt(part, 'type'))
  if (type === 'mcp_list_tools') return ''
  if (type === 'document')
    return (
      fieldAt(part, 'source', 'data') ??
      fieldAt(part, 'source', 'content') ??
      allTexts(fieldAt(part, 'document'))
    )
  if (isResultType(type)) {
    const output = fieldAt(part, 'output')
    if (output !== undefined) return output
    if (fieldAt(part, 'result') !== undefined) return foundIn(part)
    const content = fieldAt(part, 'content')
    // The provider's own tools answer in objects of many shapes.
    return type === 'tool_result' || type === 'search_result' ? (content ?? '') : readable(content)
  }
  for (const [holder, words] of wordsOfResult) {
    const nested = fieldAt(part, holder, words)
    if (nested !== undefined) return allTexts(nested)
  }
  return undefined
}

function say(role: SpokenText['role'], content: unknown): SpokenText[] {
  const text = contentTexts(content).join('\n')
  return text === '' ? [] : [{ role, text }]
}

/** The texts of content in any provider's form: a string, a part, parts. Images and signatures have none, audio its transcript. */
function contentTexts(content: unknown): string[] {
  if (typeof content === 'string') return content === '' ? [] : [content]
  if (Array.isArray(content)) return listOf(content).flatMap(partTexts)
  return partTexts(content)
}

function partTexts(part: unknown): string[] {
  if (typeof part === 'string') return part === '' ? [] : [part]
  const text =
    textOf(fieldAt(part, 'text')) ?? textOf(fieldAt(part, 'refusal')) ?? textOf(fieldAt(part, 'transcript'))
  if (text !== undefined) return [text]
  const inside = [
    ...listOf(fieldAt(part, 'content')),
    ...listOf(fieldAt(part, 'parts')),
    // Bedrock's, with what it is cited from beside it.
    ...listOf(fieldAt(part, 'citationsContent', 'content')),
  ]
  return inside.flatMap((inner) => {
    const found = typeof inner === 'string' ? textOf(inner) : textOf(fieldAt(inner, 'text'))
    return found === undefined ? [] : [found]
  })
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
    ...spoken(fieldAt(body, 'response')),
    ...spoken(fieldAt(body, 'text')),
  ]
}

/** Whether an answer without any text is one that simply has none (a tool call, an embedding), not one in an unknown shape. */
function isKnownAnswer(body: unknown): boolean {
  const hasList = (name: string) => Array.isArray(fieldAt(body, name))
  if (['choices', 'output', 'candidates', 'steps', 'data'].some(hasList)) return true
  const entries = outputEntries(body)
  return entries.length > 0 && entries.every(isKnownEntry)
}

function spokenParts(content: unknown): unknown {
  return Array.isArray(content) ? content.filter((part) => toolResultOf(part) === undefined) : content
}

const unread = new Set(['type', 'encrypted_content'])

/** What the provider's own tools found, without what only the provider can read. */
function readable(content: unknown): string[] {
  const entries = Array.isArray(content) ? listOf(content) : [content]
  return entries.flatMap((entry) => {
    const object = objectOf(entry)
    return allTexts(
      object === undefined
        ? entry
        : Object.entries(object).map(([name, value]) => (unread.has(name) ? '' : value)),
    )
  })
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
  const items = [...listOf(fieldAt(body, 'output')), ...entries].flatMap(outputsIn)
  const steps = [...newSteps(body), ...entries].map(toolResultOf)
  return [...parts, ...items, ...steps]
    .map((found) => allTexts(found).join('\n'))
    .filter((text) => text !== '')
}

/** What came of a call in the item that says it. */
function outputsIn(item: unknown): string[] {
  if (!isCallType(fieldAt(item, 'type'))) return []
  return outputsOfCall.map((name) => allTexts(fieldAt(item, name)).join('\n')).filter((text) => text !== '')
}

/** Words as parts have them, else all texts of a result in whatever shape. */
function foundIn(step: unknown): string[] {
  const result = fieldAt(step, 'result')
  const said = contentTexts(result)
  return said.length > 0 ? said : allTexts(result)
}

function documentsOf(body: unknown): string[] {
  return [...suppliedKeys, ...resultKeys].flatMap((name) => {
    const given = fieldAt(body, name)
    const entries = Array.isArray(given) ? listOf(given) : [given]
    return entries.map((entry) => allTexts(entry).join('\n')).filter((text) => text !== '')
  })
}
