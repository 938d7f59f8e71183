import type { JsonObject } from '#capture/json.ts'

/** A message of a socket: a JSON object with its text, which is valid only during the call. */
export interface SocketMessage {
  value: JsonObject
  bytes: Buffer
}

/** Finds the responses in the messages of one protocol. */
export interface Dialect {
  sent(message: SocketMessage): void
  received(message: SocketMessage): void
  /** The socket is closing: what still waits for words is recorded without them. */
  closing(): void
}
