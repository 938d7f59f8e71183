import { isResultStep, newSteps } from './interaction-steps.ts'
import { fieldAt, listOf, objectOf, textOf } from './json.ts'
import { isToolEntry, outputEntries, saidInOutputs } from './output-entries.ts'
import { toolCallsOf, type ToolCall } from './tool-calls.ts'

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
    context: [...spoken('tool'), ...documentsOf(requestBody), ...broughtBy(responseBody)],
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
    if (isResultStep(item) || type === 'function.result') return say('tool', foundIn(item))
    if (isToolEntry(item)) return say('tool', allTexts(fieldAt(item, 'info')))
    if (type?.endsWith('_output') === true) return say('tool', fieldAt(item, 'output'))
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

/** The result in a part that carries one: Anthropic `tool_result`, `search_result` and `document` (Cohere's too), Bedrock `toolResult`, Gemini `functionResponse`. */
function toolResultOf(part: unknown): unknown {
  const type = textOf(fieldAt(part, 'type'))
  if (type === 'tool_result' || type === 'search_result') return fieldAt(part, 'content') ?? ''
  // The provider's own tools answer in objects of many shapes.
  if (type?.endsWith('_tool_result') === true) return readable(fieldAt(part, 'content'))
  if (type === 'document')
    return (
      fieldAt(part, 'source', 'data') ??
      fieldAt(part, 'source', 'content') ??
      allTexts(fieldAt(part, 'document'))
    )
  const nested =
    fieldAt(part, 'toolResult', 'content') ??
    fieldAt(part, 'functionResponse', 'response') ??
    fieldAt(part, 'function_response', 'response')
  return nested === undefined ? undefined : allTexts(nested)
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
  return [...listOf(fieldAt(part, 'content')), ...listOf(fieldAt(part, 'parts'))].flatMap((inner) => {
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
  return outputEntries(body).some((entry) => typeof fieldAt(entry, 'type') === 'string')
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

/** What tools that run at the provider brought into an answer: parts of the messages shape, items of the responses shape, steps of an interaction. */
function broughtBy(body: unknown): string[] {
  const parts = listOf(fieldAt(body, 'content')).map(toolResultOf)
  const items = listOf(fieldAt(body, 'output')).flatMap((item) =>
    textOf(fieldAt(item, 'type'))?.endsWith('_call') === true
      ? ['output', 'outputs', 'results'].map((name) => fieldAt(item, name))
      : [],
  )
  const entries = outputEntries(body)
  const results = [...newSteps(body), ...entries].filter(isResultStep).map(foundIn)
  const executed = entries.filter(isToolEntry).map((entry) => fieldAt(entry, 'info'))
  return [...parts, ...items, ...results, ...executed]
    .map((found) => allTexts(found).join('\n'))
    .filter((text) => text !== '')
}

/** Words as parts have them, else all texts of a result in whatever shape. */
function foundIn(step: unknown): string[] {
  const result = fieldAt(step, 'result')
  const said = contentTexts(result)
  return said.length > 0 ? said : allTexts(result)
}

function documentsOf(body: unknown): string[] {
  return ['documents', 'context', 'retrieved_context', 'passages'].flatMap((name) => {
    const given = fieldAt(body, name)
    const entries = Array.isArray(given) ? listOf(given) : [given]
    return entries.map((entry) => allTexts(entry).join('\n')).filter((text) => text !== '')
  })
}

/** Every string value, in order. Not recursive: bodies may be nested deeper than the stack. */
function allTexts(value: unknown): string[] {
  const found: string[] = []
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (typeof next === 'string') {
      if (next !== '') found.push(next)
    } else if (Array.isArray(next)) {
      for (const inner of (next as unknown[]).toReversed()) pending.push(inner)
    } else {
      const object = objectOf(next)
      if (object !== undefined) for (const inner of Object.values(object).toReversed()) pending.push(inner)
    }
  }
  return found
}
