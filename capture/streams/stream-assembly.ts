import type { JsonObject } from '../json.ts'

/** Builds one message out of a provider's stream of JSON chunks. */
export interface StreamAssembly {
  add(chunk: JsonObject): void
  /** What `chunk`, which was added last, let grow; undefined when it did more, or when its format has no such chunks. */
  growthOf?(chunk: JsonObject): Growth | undefined
  /** The message so far, as the provider would have returned it without streaming. */
  body(): JsonObject
  /** Whether the provider has said that this is the end. */
  ended(): boolean
  /** Whether parts of it may stand where they do not belong. Absent: its format leaves no doubt. */
  isDoubtful?(): boolean
}

/** A chunk that does nothing but let one text grow. */
export interface Growth {
  /** What the chunk has added. */
  text: string
  /** Does what the same chunk with another text would do. */
  append: (text: string) => void
}
