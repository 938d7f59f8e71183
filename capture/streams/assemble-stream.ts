import { fieldAt, listOf, objectOf, parseJson, textOf, type JsonObject } from '../json.ts'
import { createCandidateAssembly } from './candidate-assembly.ts'
import { createChatAssembly } from './chat-assembly.ts'
import { createCohereAssembly } from './cohere-assembly.ts'
import { createCompletionAssembly } from './completion-assembly.ts'
import { createConverseAssembly, isConverseEvent } from './converse-assembly.ts'
import { createConversationAssembly, isConversationEvent } from './conversation-assembly.ts'
import { createDifyAssembly, isDifyEvent } from './dify-assembly.ts'
import { holdsWords } from './holds-words.ts'
import { createInteractionAssembly } from './interaction-assembly.ts'
import { createMessageAssembly } from './message-assembly.ts'
import { createOllamaAssembly, isOllamaChunk } from './ollama-assembly.ts'
import { createRepeatedChunks } from './repeated-chunks.ts'
import { createResponseAssembly } from './response-assembly.ts'
import { createRunAssembly, isRunState } from './run-assembly.ts'
import { parseServerSentEvents } from './server-sent-events.ts'
import type { StreamAssembly } from './stream-assembly.ts'

export interface AssembledStream {
  body: JsonObject
  /**
   * Whether it came to its end, or to the provider's error. False: it was cut off, or nobody can tell what
   * belongs together.
   */
  ended: boolean
}

/** Told of the first event that has something generated, but for those of a list: its last line of data, as it stands in the text. */
export type OnWords = (line: string) => void

/** A stream's text is so many times as long as the message that it amounts to, and more: 320 bytes or so for each token. */
export const streamTextFactor = 8

/**
 * The message that a `text/event-stream` amounts to: OpenAI chat, completions and responses, Anthropic
 * messages, Google's candidates and interactions, Cohere's second chat, Mistral's conversations, Dify's
 * events, LangGraph's states, Bedrock's Converse; the JSON list that Google's candidates come in without
 * events, and Ollama's lines. Undefined for a stream that is none of them.
 */
export function assembleStream(text: string, onWords?: OnWords): AssembledStream | undefined {
  const reader = createStreamReader(onWords)
  if (beginsAsList(text)) for (const chunk of chunksListed(text)) reader.addChunk(chunk)
  else if (beginsAsLines(text)) for (const line of text.split('\n')) reader.add(line)
  else for (const event of parseServerSentEvents(text)) reader.add(event.data)
  return reader.assembled()
}

/**
 * The message as it stands in a record: with `truncated` where it broke off, so that it does not pass for all.
 * Each state of a run is whole.
 */
export function recordedMessage({ body, ended }: AssembledStream): JsonObject {
  return ended || isRunState(body) ? body : { ...body, truncated: true }
}

/** Whether a text can be the JSON list that Google's chunks come in where a client does not ask for events. */
export function beginsAsList(text: string): boolean {
  return /^\s*\[/.test(text)
}

/** A chunk of Ollama's a line. */
function beginsAsLines(text: string): boolean {
  if (!beginsAsObject(text)) return false
  const first = text.trimStart().split('\n', 1)[0] ?? ''
  return isOllamaChunk(objectOf(parseJson(first)) ?? {})
}

/** None of a list of anything else: two answers are no message, and an error is what its status says. */
function chunksListed(text: string): JsonObject[] {
  const listed = listOf(parseJson(text)).map((chunk) => objectOf(chunk) ?? {})
  return listed[0] !== undefined && Array.isArray(fieldAt(listed[0], 'candidates')) ? listed : []
}

export interface StreamReader {
  /** Takes the data of one event: JSON text, or a mark of the end. */
  add(data: string): void
  addChunk(chunk: JsonObject): void
  assembled(): AssembledStream | undefined
}

/** JSON that is none takes 30 µs to refuse: a stream of four million such events would hold up everybody for minutes. */
const maxFailures = 1_000

function beginsAsObject(data: string): boolean {
  return /^\s*\{/.test(data)
}

/** The same for events that come one after the other. */
export function createStreamReader(onWords?: OnWords): StreamReader {
  let assembly: StreamAssembly | undefined
  let isFirst = true
  let done = false
  let hasWords = false
  let failures = 0
  const repeated = createRepeatedChunks()
  const addChunk = (chunk: JsonObject): StreamAssembly | undefined => {
    assembly ??= assemblyFor(chunk, isFirst)
    isFirst = false
    // Of no format, as a `ping` before the first event that has one.
    assembly?.add(chunk)
    return assembly
  }
  return {
    addChunk,
    add(data) {
      if (data === '[DONE]') {
        done = true
        return
      }
      if (repeated.take(data) || failures > maxFailures || !beginsAsObject(data)) return
      const chunk = objectOf(parseJson(data))
      if (chunk === undefined) {
        failures++
        return
      }
      if (onWords !== undefined && !hasWords && holdsWords(chunk)) {
        hasWords = true
        onWords(data.slice(data.lastIndexOf('\n') + 1))
      }
      const added = addChunk(chunk)
      if (added !== undefined) repeated.learn(data, chunk, added)
    },
    assembled() {
      // What came behind so many is not in it.
      if (assembly === undefined || failures > maxFailures) return undefined
      const body = assembly.body()
      // Clients throw at a provider's error and close at once: nothing is meant to come after it.
      const ended = done || assembly.ended() || Boolean(fieldAt(body, 'error'))
      return { body, ended: ended && assembly.isDoubtful?.() !== true }
    },
  }
}

/** A chunk says which of the formats it is; an error only where nothing came before it that would be left out. */
function assemblyFor(chunk: JsonObject, isFirst: boolean): StreamAssembly | undefined {
  const type = textOf(fieldAt(chunk, 'type')) ?? ''
  if (type.startsWith('response.')) return createResponseAssembly()
  if (isConversationEvent(type)) return createConversationAssembly()
  if (isDifyEvent(chunk)) return createDifyAssembly()
  if (isConverseEvent(chunk)) return createConverseAssembly()
  if (isOllamaChunk(chunk)) return createOllamaAssembly()
  if (isRunState(chunk)) return createRunAssembly()
  const isError = isFirst && Boolean(fieldAt(chunk, 'error'))
  if (isFirst && type === 'error' && textOf(fieldAt(chunk, 'message')) !== undefined)
    return createResponseAssembly()
  if (type === 'message_start' || (type === 'error' && isError)) return createMessageAssembly()
  if (type === 'message-start') return createCohereAssembly()
  if (textOf(fieldAt(chunk, 'event_type'))?.startsWith('interaction.') === true)
    return createInteractionAssembly()
  if (Array.isArray(fieldAt(chunk, 'candidates'))) return createCandidateAssembly()
  const object = fieldAt(chunk, 'object')
  const choices = listOf(fieldAt(chunk, 'choices'))
  if (object === 'text_completion' || choices.some((choice) => typeof fieldAt(choice, 'text') === 'string'))
    return createCompletionAssembly()
  const isChat = object === 'chat.completion.chunk' || Array.isArray(fieldAt(chunk, 'choices'))
  return isChat || isError ? createChatAssembly() : undefined
}
