import { fieldAt, listOf, objectOf, parseJson, textOf, type JsonObject } from '#capture/json.ts'
import { parseServerSentEvents } from '#capture/streams/server-sent-events.ts'

/** A request of an agent to an MCP server, with its answer if one came. */
export interface McpRequest {
  method: string
  params: unknown
  /** A JSON-RPC message with `result` or `error`. */
  answer: JsonObject | undefined
}

/**
 * The requests in a body, which may be a batch, each with the message of the answer that has its `id`. The
 * answer is JSON or an event stream, whatever its content type says. Notifications are left out.
 */
export function readMessages(requestText: string, answerText: string): McpRequest[] {
  const requests = messagesIn(requestText).filter((message) => textOf(message['method']) !== undefined)
  const answers = new Map(answersIn(answerText).map((message) => [keyOf(message), message]))
  return requests
    .filter(({ id }) => id !== undefined)
    .map((message) => ({
      method: textOf(message['method']) ?? '',
      params: message['params'],
      answer: answers.get(keyOf(message)),
    }))
}

/** `1` and `"1"` are two identifiers. */
function keyOf({ id }: JsonObject): string {
  return JSON.stringify(id ?? null)
}

function messagesIn(text: string): JsonObject[] {
  const value = parseJson(text)
  return (Array.isArray(value) ? listOf(value) : [value])
    .map(objectOf)
    .filter((message) => message !== undefined)
}

/** The messages of an answer that answer a request. */
export function answersIn(text: string): JsonObject[] {
  const whole = messagesIn(text)
  const messages =
    whole.length > 0 ? whole : parseServerSentEvents(text).flatMap(({ data }) => messagesIn(data))
  // The server's own requests and notifications come in the same stream.
  return messages.filter((message) => fieldAt(message, 'method') === undefined)
}
