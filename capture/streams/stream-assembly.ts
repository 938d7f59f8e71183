import type { JsonObject } from '../json.ts'

/** Builds one message out of a provider's stream of JSON chunks. */
export interface StreamAssembly {
  add(chunk: JsonObject): void
  /** The message so far, as the provider would have returned it without streaming. */
  body(): JsonObject
  /** Whether the provider has said that this is the end. */
  ended(): boolean
}
