import { fieldAt, listOf, objectOf, textOf } from '../json.ts'
import { callOf, chatMessages, type ChatMessage } from './chat-messages.ts'
import { listUnder, unpacked } from './nested-attributes.ts'
import type { Attributes } from './otlp-values.ts'
import type { Span, SpanEvent } from './read-spans.ts'

/** Attributes with whole messages, in the order in which they are looked for (docs/opentelemetry.md). */
export const promptAttributes = [
  'gen_ai.input.messages',
  'gen_ai.prompt',
  'ai.prompt.messages',
  'ai.prompt',
  'ai.value',
  'ai.values',
  'langfuse.observation.input',
  'request_data',
  'input.value',
  'traceloop.entity.input',
] as const
export const answerAttributes = [
  'gen_ai.output.messages',
  'gen_ai.completion',
  'ai.response.object',
  'langfuse.observation.output',
  'response_data',
  'output.value',
  'traceloop.entity.output',
] as const
/** The same, spread over attributes with an index behind the prefix. */
export const promptPrefixes = ['gen_ai.prompt.', 'llm.input_messages.', 'llm.prompts.'] as const
export const answerPrefixes = ['gen_ai.completion.', 'llm.output_messages.', 'llm.completions.'] as const
/** Events that carry a message each. */
const promptEvents = /^gen_ai\.(system|user|assistant|tool)\.message$/
const answerEvent = 'gen_ai.choice'
/** The event with all messages of a call. */
export const wholeEvent = 'gen_ai.client.inference.operation.details'
const listEvents = new Set([wholeEvent, 'gen_ai.content.prompt', 'gen_ai.content.completion'])

/** Whether events of this name carry words of a call. */
export function isWordsEvent(name: string): boolean {
  return promptEvents.test(name) || name === answerEvent || listEvents.has(name)
}

/** The messages of a model's request, instructions first; none where the instrumentation left them out. */
export function promptOf(span: Span): ChatMessage[] {
  const all = attributesOf(span)
  const instructions = chatMessages(all.get('gen_ai.system_instructions') ?? null, 'system')
  const asMessages = instructions.length === 0 ? [] : joined(instructions)
  return [...asMessages, ...promptMessages(span, all)]
}

/** Instructions come in parts. */
function joined(instructions: readonly ChatMessage[]): ChatMessage[] {
  const texts = instructions.map(({ content }) =>
    typeof content === 'string' ? content : JSON.stringify(content),
  )
  return [{ role: 'system', content: texts.join('\n') }]
}

function promptMessages(span: Span, all: Attributes): ChatMessage[] {
  const ofEvents = span.events.flatMap((event) => {
    const role = promptEvents.exec(event.name)?.[1]
    return role === undefined ? [] : eventMessages(event, role)
  })
  if (ofEvents.length > 0) return ofEvents
  for (const prefix of promptPrefixes) {
    const messages = chatMessages(listUnder(all, prefix), 'user')
    if (messages.length > 0) return messages
  }
  for (const name of promptAttributes) {
    const messages = wordsIn(all.get(name), 'user')
    if (messages.length > 0) return messages
  }
  return embedded(all)
}

/** Texts of embeddings. */
function embedded(all: Attributes): ChatMessage[] {
  return listUnder(all, 'embedding.embeddings.').flatMap((one) =>
    chatMessages(fieldAt(one, 'embedding', 'text') ?? null, 'user'),
  )
}

/** The messages of a model's answer; none where there is none, or the instrumentation left it out. */
export function answerOf(span: Span): ChatMessage[] {
  const all = attributesOf(span)
  const choices = span.events
    .filter(({ name }) => name === answerEvent)
    .flatMap((event) => eventMessages(event, 'assistant'))
  if (choices.length > 0) return choices
  for (const prefix of answerPrefixes) {
    const messages = chatMessages(listUnder(all, prefix), 'assistant')
    if (messages.length > 0) return messages
  }
  const vercel = vercelAnswer(all)
  if (vercel !== undefined) return [vercel]
  for (const name of answerAttributes) {
    const messages = wordsIn(all.get(name), 'assistant')
    if (messages.length > 0) return messages
  }
  return []
}

/** Without the words, an event may still say that there was a message. */
function eventMessages({ attributes }: SpanEvent, role: string): ChatMessage[] {
  return chatMessages(Object.fromEntries(attributes), role).filter(
    ({ content, tool_calls: calls = [] }) => (content !== null && content !== '') || calls.length > 0,
  )
}

/** Whether an event of the request or of the response lacks its words, or the arguments of a tool's call. */
export function leavesOutWords({ events }: Span, part: 'request' | 'response'): boolean {
  return events
    .filter(({ name }) => (part === 'request' ? promptEvents.test(name) : name === answerEvent))
    .some((event) => eventMessages(event, '').length === 0 || callsOf(event).some(lacksArguments))
}

function callsOf({ attributes }: SpanEvent): readonly unknown[] {
  const message = unpacked(attributes.get('message')) ?? Object.fromEntries(attributes)
  return listOf(unpacked(fieldAt(message, 'tool_calls')))
}

function lacksArguments(call: unknown): boolean {
  return (fieldAt(call, 'function', 'arguments') ?? fieldAt(call, 'arguments')) === undefined
}

function vercelAnswer(all: Attributes): ChatMessage | undefined {
  const content = textOf(all.get('ai.response.text')) ?? null
  const calls = listOf(unpacked(all.get('ai.response.toolCalls'))).flatMap(callOf)
  const thought = textOf(all.get('ai.response.reasoning'))
  if (content === null && calls.length === 0) return undefined
  return {
    role: 'assistant',
    content,
    ...(thought !== undefined && { reasoning_content: thought }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

/** Messages of a value: a provider's request or answer, a list, or any other JSON, which is text. */
function wordsIn(given: unknown, role: string): ChatMessage[] {
  const value = unpacked(given)
  if (value === undefined || value === null) return []
  const responses = (Array.isArray(value) ? value : [value]).filter(
    (one) => fieldAt(one, 'object') === 'response',
  )
  if (responses.length > 0) return responses.flatMap(responseMessage)
  const object = objectOf(value)
  if (object === undefined) return chatMessages(value, role)
  const choices = listOf(object['choices']).flatMap((choice) =>
    chatMessages(fieldAt(choice, 'message'), role),
  )
  if (choices.length > 0) return choices
  const candidates = listOf(object['candidates'])
  if (candidates.length > 0) return candidates.flatMap((one) => chatMessages(fieldAt(one, 'content'), role))
  const system = typeof object['system'] === 'string' ? chatMessages(object['system'], 'system') : []
  const isMessages = ['messages', 'message', 'content', 'parts', 'contents', 'tool_calls'].some(
    (name) => object[name] !== undefined,
  )
  if (isMessages) return [...system, ...chatMessages(value, role)]
  // Logfire's streams.
  if (typeof object['combined_chunk_content'] === 'string')
    return chatMessages(object['combined_chunk_content'], role)
  if (typeof object['prompt'] === 'string') return [...system, { role, content: object['prompt'] }]
  return Object.keys(object).length === 0 ? [] : [{ role, content: JSON.stringify(value) }]
}

/** The message of an answer of the Responses API. */
function responseMessage(response: unknown): ChatMessage[] {
  const items = listOf(fieldAt(response, 'output'))
  const [said] = chatMessages(
    { role: 'assistant', content: items.flatMap((item) => listOf(fieldAt(item, 'content'))) },
    'assistant',
  )
  const calls = items
    .filter((item) => fieldAt(item, 'type') === 'function_call')
    .flatMap((item) => callOf({ ...objectOf(item), id: fieldAt(item, 'call_id') }))
  const content = said?.content ?? null
  if (content === null && calls.length === 0) return []
  return [{ role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }]
}

/** The span's attributes over those of events that carry whole lists of messages. */
function attributesOf({ attributes, events }: Span): Attributes {
  const lists = events.filter(({ name }) => listEvents.has(name))
  return lists.length === 0
    ? attributes
    : new Map([...lists.flatMap((event) => [...event.attributes]), ...attributes])
}
