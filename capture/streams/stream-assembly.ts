import type { JsonObject } from '../json.ts'

/** Builds one message from a provider's stream of JSON chunks. */
export interface StreamAssembly {
  add(chunk: JsonObject): void
  /**
   * The text that the last added `chunk` appended; undefined if it did more, or for formats without such
   * chunks.
   */
  growthOf?(chunk: JsonObject): Growth | undefined
  /** The message so far, as the provider would return it without streaming. */
  body(): JsonObject
  /** Whether the provider has sent its end mark. */
  ended(): boolean
  /** Whether parts may be assigned wrongly. Absent: the format is unambiguous. */
  isDoubtful?(): boolean
}

/** A chunk that only appends to one text. */
export interface Growth {
  /** The appended text. */
  text: string
  /** Appends another text instead. */
  append: (text: string) => void
}
