/** Bedrock */
export function isAmazonEvents(contentType: string): boolean {
  return contentType.startsWith('application/vnd.amazon.eventstream')
}

/** Whether the type is an event stream, which is longer than its message. */
export function isEventStream(contentType: string): boolean {
  return contentType.startsWith('text/event-stream') || isAmazonEvents(contentType)
}

/** Whether the type is JSON lines, as Ollama streams. */
export function isJsonLines(contentType: string): boolean {
  return /^application\/(?:x-)?(?:ndjson|jsonl|json-?lines|json-seq)\b/.test(contentType)
}
