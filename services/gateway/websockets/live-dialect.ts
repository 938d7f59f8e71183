import { fieldAt, listOf, objectOf, textOf, type JsonObject } from '#capture/json.ts'
import type { CaptureBudget } from '../recording/capture-budget.ts'
import type { Dialect, SocketMessage } from './dialect.ts'
import { HeldItems, requestOf } from './held-items.ts'
import type { OpenResponse, Responses } from './open-response.ts'
import { withoutMedia } from './without-media.ts'

interface LiveOptions {
  responses: Responses
  budget: CaptureBudget
  maxBodyBytes: number
}

/** What the model says, by which a response begins. */
const spoken = [
  'modelTurn',
  'outputTranscription',
  'generationComplete',
  'interrupted',
  'turnComplete',
] as const
const maxMediaTypes = 100

/** What was said since the last response. */
interface Said {
  turns: HeldItems<JsonObject>
  /** Bytes of sound and pictures by media type. */
  streamed: Map<string, number>
  /** Transcribed speech. */
  heard: string
}

/**
 * Gemini Live. The request of a response is the setup and what was said since the last, in the form of
 * generateContent; it ends with `turnComplete`. Sound and pictures are counted; their words come as
 * transcriptions where the setup asks for them.
 */
export class LiveDialect implements Dialect {
  readonly #options: LiveOptions
  #setup: JsonObject = {}
  #said: Said
  #open: { response: OpenResponse; said: Said } | undefined

  constructor(options: LiveOptions) {
    this.#options = options
    this.#said = this.#nothing()
  }

  sent({ value }: SocketMessage): void {
    const { turns } = this.#said
    const given = (name: string, other: string) => objectOf(value[name] ?? value[other]) ?? {}
    this.#setup = objectOf(value['setup']) ?? this.#setup
    for (const turn of listOf(given('clientContent', 'client_content')['turns']))
      turns.add(objectOf(withoutMedia(turn)) ?? {})
    const { functionResponses, function_responses: others } = given('toolResponse', 'tool_response')
    const results = listOf(functionResponses ?? others)
    if (results.length > 0) turns.add({ role: 'user', parts: results.map(resultPart) })
    const { text, audio, video, mediaChunks } = given('realtimeInput', 'realtime_input')
    if (textOf(text) !== undefined) turns.add({ role: 'user', parts: [{ text }] })
    for (const blob of [audio, video, ...listOf(mediaChunks)]) count(this.#said.streamed, blob)
  }

  received({ value }: SocketMessage): void {
    hear(
      this.#open?.said ?? this.#said,
      textOf(fieldAt(value, 'serverContent', 'inputTranscription', 'text')),
    )
    const isSpoken = spoken.some((name) => fieldAt(value, 'serverContent', name) !== undefined)
    const goesOn = this.#open !== undefined && value['usageMetadata'] !== undefined
    if (!isSpoken && value['toolCall'] === undefined && !goesOn) return
    this.#open ??= this.#begin()
    const { response } = this.#open
    response.answeredWith(objectOf(withoutMedia(value)) ?? {})
    if (fieldAt(value, 'serverContent', 'turnComplete') !== true) return
    this.#open = undefined
    this.#options.responses.end(response)
  }

  closing(): void {
    this.#said.turns.release()
  }

  #nothing(): Said {
    const { budget, maxBodyBytes } = this.#options
    return { turns: new HeldItems(budget, maxBodyBytes), streamed: new Map(), heard: '' }
  }

  #begin() {
    const response = this.#options.responses.begin()
    const [said, setup] = [this.#said, this.#setup]
    response.held = requestOf(said.turns, () => requestBody(setup, said))
    this.#said = this.#nothing()
    return { response, said }
  }
}

function resultPart(functionResponse: unknown): JsonObject {
  return { functionResponse: withoutMedia(functionResponse) }
}

function hear(said: Said, words: string | undefined): void {
  if (words !== undefined && said.turns.grow(words.length)) said.heard += words
}

function count(streamed: Map<string, number>, blob: unknown): void {
  const data = textOf(fieldAt(blob, 'data'))
  if (data === undefined) return
  const type = textOf(fieldAt(blob, 'mimeType') ?? fieldAt(blob, 'mime_type')) ?? 'unknown'
  if (streamed.has(type) || streamed.size < maxMediaTypes)
    streamed.set(type, (streamed.get(type) ?? 0) + Buffer.byteLength(data, 'base64'))
}

function requestBody(setup: JsonObject, { turns, streamed, heard }: Said) {
  const parts = [
    ...[...streamed].map(([mimeType, bytes]) => ({ inlineData: { mimeType, bytes } })),
    ...(heard === '' ? [] : [{ text: heard }]),
  ]
  return { ...setup, contents: [...turns.items, ...(parts.length === 0 ? [] : [{ role: 'user', parts }])] }
}
