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
import { createLiveAssembly, isLiveMessage } from './live-assembly.ts'
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
   * Whether the stream reached its end, or the provider's error. False: it was truncated, or its parts are
   * ambiguous.
   */
  ended: boolean
}

/**
 * Called for the first event with generated content, with its last line of data. Not called for JSON lists.
 */
export type OnWords = (line: string) => void

/** A stream is at least this many times longer than its message: it takes some 320 bytes per token. */
export const streamTextFactor = 8

/**
 * The message of a `text/event-stream`: OpenAI chat, completions and responses, Anthropic messages, Google
 * candidates and interactions, Cohere v2 chat, Mistral conversations, Dify, LangGraph, Bedrock Converse. Also
 * of Google's JSON list of candidates and Ollama's JSON lines. Undefined for other streams.
 */
export function assembleStream(text: string, onWords?: OnWords): AssembledStream | undefined {
  const reader = createStreamReader(onWords)
  if (beginsAsList(text)) for (const chunk of chunksListed(text)) reader.addChunk(chunk)
  else if (beginsAsLines(text)) for (const line of text.split('\n')) reader.add(line)
  else for (const event of parseServerSentEvents(text)) reader.add(event.data)
  return reader.assembled()
}

/**
 * The recorded message, with `truncated` if the stream broke off. Each state of a LangGraph run is complete.
 */
export function recordedMessage({ body, ended }: AssembledStream): JsonObject {
  return ended || isRunState(body) ? body : { ...body, truncated: true }
}

/** Whether a text may be a JSON list, as Google sends chunks without SSE. */
export function beginsAsList(text: string): boolean {
  return /^\s*\[/.test(text)
}

/** Whether a text is Ollama's JSON lines. */
function beginsAsLines(text: string): boolean {
  if (!beginsAsObject(text)) return false
  const first = text.trimStart().split('\n', 1)[0] ?? ''
  return isOllamaChunk(objectOf(parseJson(first)) ?? {})
}

/** Empty for lists of anything else: two answers are no message, and an error is read elsewhere. */
function chunksListed(text: string): JsonObject[] {
  const listed = listOf(parseJson(text)).map((chunk) => objectOf(chunk) ?? {})
  return listed[0] !== undefined && Array.isArray(fieldAt(listed[0], 'candidates')) ? listed : []
}

export interface StreamReader {
  /** Adds the data of one event: JSON text, or an end mark. */
  add(data: string): void
  addChunk(chunk: JsonObject): void
  assembled(): AssembledStream | undefined
}

/** Rejecting invalid JSON takes 30 µs, so four million such events would block for minutes. */
const maxFailures = 1_000

function beginsAsObject(data: string): boolean {
  return /^\s*\{/.test(data)
}

/** An incremental `assembleStream`. */
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
    // Undefined before the first known format, for example for `ping`.
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
      if (repeated.addIfRepeated(data) || failures > maxFailures || !beginsAsObject(data)) return
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
      // The message would lack everything after that many failures.
      if (assembly === undefined || failures > maxFailures) return undefined
      const body = assembly.body()
      // Clients throw at a provider's error and disconnect, so an error is an end.
      const ended = done || assembly.ended() || Boolean(fieldAt(body, 'error'))
      return { body, ended: ended && assembly.isDoubtful?.() !== true }
    },
  }
}

/** Detects the format by a chunk; by an error only if no chunk came before. */
function assemblyFor(chunk: JsonObject, isFirst: boolean): StreamAssembly | undefined {
  const type = textOf(fieldAt(chunk, 'type')) ?? ''
  if (type.startsWith('response.')) return createResponseAssembly()
  if (isConversationEvent(type)) return createConversationAssembly()
  if (isDifyEvent(chunk)) return createDifyAssembly()
  if (isConverseEvent(chunk)) return createConverseAssembly()
  if (isOllamaChunk(chunk)) return createOllamaAssembly()
  if (isRunState(chunk)) return createRunAssembly()
  if (isLiveMessage(chunk)) return createLiveAssembly()
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
