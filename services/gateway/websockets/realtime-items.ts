import { fieldAt, listOf, objectOf, textOf, type JsonObject } from '#capture/json.ts'
import type { CaptureBudget } from '../recording/capture-budget.ts'
import { HeldItems } from './held-items.ts'
import { withoutMedia } from './without-media.ts'

/** An item of the conversation, whose words may come later. */
interface Item {
  value: JsonObject
  /** Transcripts by the index of its content. */
  heard: Map<number, string>
}

/** The bound of what is remembered for a peer that never ends what it begins. */
export const maxRemembered = 1_000

/** What was said before one response. */
export class RealtimeItems {
  readonly held: HeldItems<Item>

  constructor(budget: CaptureBudget, maxBytes: number) {
    this.held = new HeldItems(budget, maxBytes)
  }

  has(id: string): boolean {
    return this.#find(id) !== undefined
  }

  /** Of the client, or as the provider confirms it: then with an identifier. */
  hear(given: JsonObject): void {
    const item = objectOf(withoutMedia(given)) ?? {}
    const { id, type } = item
    const unnamed = this.held.items.find(({ value }) => value['id'] === undefined && value['type'] === type)
    if (id !== undefined && unnamed !== undefined) unnamed.value = { ...unnamed.value, id }
    else this.held.add({ value: item, heard: new Map() })
  }

  /** Adds what was spoken; false: it belongs to other items. */
  transcribe(event: JsonObject): boolean {
    const item = this.#find(textOf(event['item_id']) ?? '')
    const words = textOf(event['transcript']) ?? ''
    if (item === undefined) return false
    if (this.held.grow(words.length)) item.heard.set(Number(event['content_index'] ?? 0), words)
    return true
  }

  /** Whether something was spoken whose words have not come. */
  isUnheard(): boolean {
    return this.held.items.some(({ value, heard }) => isSpoken(value) && heard.size === 0)
  }

  /** With the words that have come. */
  values(): JsonObject[] {
    return this.held.items.map(withWords)
  }

  #find(id: string): Item | undefined {
    return this.held.items.find(({ value }) => value['id'] === id)
  }
}

function isSpoken(item: JsonObject): boolean {
  return listOf(item['content']).some(
    (part) => fieldAt(part, 'type') === 'input_audio' && textOf(fieldAt(part, 'transcript')) === undefined,
  )
}

function withWords({ value, heard }: Item): JsonObject {
  if (heard.size === 0) return value
  const content = listOf(value['content']).map((part, at) =>
    heard.has(at) ? { ...objectOf(part), transcript: heard.get(at) } : part,
  )
  return { ...value, content }
}
