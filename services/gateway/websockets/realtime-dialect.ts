import { fieldAt, listOf, objectOf, textOf, type JsonObject } from '#capture/json.ts'
import type { CaptureBudget } from '../recording/capture-budget.ts'
import type { Dialect, SocketMessage } from './dialect.ts'
import { requestOf } from './held-items.ts'
import type { OpenResponse, Responses } from './open-response.ts'
import { maxRemembered, RealtimeItems } from './realtime-items.ts'
import { withoutMedia } from './without-media.ts'

/** Answers in sound: their words come as transcripts. */
const sounds: ReadonlySet<string> = new Set(['response.audio.delta', 'response.output_audio.delta'])
/** Events by which the provider confirms an item: `created` in the beta, the others since. */
const itemEvents: ReadonlySet<string> = new Set([
  ...['conversation.item.created', 'conversation.item.added', 'conversation.item.done'],
])
const transcriptEvents: ReadonlySet<string> = new Set([
  'conversation.item.input_audio_transcription.completed',
  'conversation.item.input_audio_transcription.failed',
])

interface Turn {
  response: OpenResponse
  items: RealtimeItems
}

export interface RealtimeOptions {
  responses: Responses
  budget: CaptureBudget
  maxBodyBytes: number
  /** From the address of the socket; the session names it more exactly. */
  model: string | undefined
}

/**
 * OpenAI's Realtime, in the events of the beta and those since. The request of a response is the session and
 * what was said since the last response, the answer its last event. A response waits for the transcripts of
 * what was spoken, until the next response is done or the socket closes.
 */
export class RealtimeDialect implements Dialect {
  readonly #options: RealtimeOptions
  #session: JsonObject = {}
  /** Since the last response began. */
  #said: RealtimeItems
  readonly #asked: JsonObject[] = []
  readonly #open = new Map<string, Turn>()
  /** Done, but for the words of what was spoken. */
  #waiting: Turn[] = []
  /** Items that responses made. */
  readonly #made = new Set<string>()

  constructor(options: RealtimeOptions) {
    this.#options = options
    this.#said = this.#noItems()
  }

  sent({ value }: SocketMessage): void {
    const type = textOf(value['type'])
    if (type === 'conversation.item.create') this.#said.hear(objectOf(value['item']) ?? {})
    else if (type === 'response.create' && this.#asked.length < maxRemembered)
      this.#asked.push(objectOf(withoutMedia(value['response'])) ?? {})
  }

  received(message: SocketMessage): void {
    const { value } = message
    const type = textOf(value['type']) ?? ''
    if (type === 'session.created' || type === 'session.updated')
      this.#session = objectOf(value['session']) ?? this.#session
    else if (itemEvents.has(type)) this.#confirm(objectOf(value['item']) ?? {})
    else if (transcriptEvents.has(type)) {
      if (!this.#allItems().some((items) => items.transcribe(value))) return
      this.#settle((turn) => !this.#isUnheard(turn))
    } else if (type.startsWith('response.')) this.#answer(message, type)
  }

  closing(): void {
    this.#settle(() => true)
    this.#said.held.release()
  }

  #noItems(): RealtimeItems {
    return new RealtimeItems(this.#options.budget, this.#options.maxBodyBytes)
  }

  #allItems(): RealtimeItems[] {
    return [this.#said, ...[...this.#open.values(), ...this.#waiting].map(({ items }) => items)]
  }

  #confirm(item: JsonObject): void {
    const id = textOf(item['id']) ?? ''
    if (!this.#made.has(id) && !this.#allItems().some((items) => items.has(id))) this.#said.hear(item)
  }

  #answer({ value, bytes }: SocketMessage, type: string): void {
    const id = textOf(value['response_id']) ?? textOf(fieldAt(value, 'response', 'id')) ?? ''
    if (type === 'response.created') this.#begin(id)
    const turn = this.#open.get(id)
    if (turn === undefined || sounds.has(type)) return
    turn.response.answered(bytes)
    if (type === 'response.output_item.added') this.#remember(textOf(fieldAt(value, 'item', 'id')))
    if (type !== 'response.done') return
    this.#open.delete(id)
    this.#settle(() => true)
    this.#waiting.push(turn)
    this.#settle((each) => !this.#isUnheard(each))
  }

  #begin(id: string): void {
    if (this.#open.size >= maxRemembered) return
    const response = this.#options.responses.begin()
    const items = this.#said
    this.#said = this.#noItems()
    const [session, asked] = [this.#session, this.#asked.shift() ?? {}]
    response.held = requestOf(items.held, () =>
      requestBody(session, asked, items.values(), this.#options.model),
    )
    response.sessionId = textOf(session['id'])
    this.#open.set(id, { response, items })
  }

  #settle(isReady: (turn: Turn) => boolean): void {
    const ready = this.#waiting.filter(isReady)
    this.#waiting = this.#waiting.filter((turn) => !ready.includes(turn))
    for (const { response } of ready) this.#options.responses.end(response)
  }

  #isUnheard({ items }: Turn): boolean {
    const transcribes = [
      fieldAt(this.#session, 'input_audio_transcription'),
      fieldAt(this.#session, 'audio', 'input', 'transcription'),
    ].some((setting) => objectOf(setting) !== undefined)
    return transcribes && items.isUnheard()
  }

  #remember(id: string | undefined): void {
    if (id === undefined) return
    const [oldest = ''] = this.#made
    if (this.#made.size >= maxRemembered) this.#made.delete(oldest)
    this.#made.add(id)
  }
}

/** In the form of a Responses request, whose names the session shares. */
function requestBody(
  session: JsonObject,
  asked: JsonObject,
  items: readonly JsonObject[],
  model: string | undefined,
) {
  const { model: ofSession = model, instructions, tools, ...rest } = session
  const { instructions: own = instructions, tools: ownTools = tools, input, ...options } = asked
  return {
    model: ofSession,
    instructions: own,
    tools: ownTools,
    input: [...items, ...listOf(input)],
    session: rest,
    response: options,
  }
}
