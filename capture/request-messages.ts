import { allTexts } from './all-texts.ts'
import { contentTexts, toolResultOf } from './content-texts.ts'
import { fieldAt, listOf, objectOf, textOf, type JsonObject } from './json.ts'
import { isCallType, outputsIn } from './tool-results.ts'

export interface SpokenText {
  role: 'system' | 'user' | 'assistant' | 'tool'
  text: string
}

/**
 * Whether the body has turns, even if they have no text (images, PDFs). Text under an unknown name does not
 * count.
 */
export function isConversation(body: unknown): boolean {
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

/** The messages of a request, in order. */
export function messagesOf(body: unknown): SpokenText[] {
  const found = givenMessages(body)
  // Current questions count only next to other messages: otherwise all texts are the prompt.
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
