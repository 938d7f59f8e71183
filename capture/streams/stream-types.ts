/** Bedrock's. */
export function isAmazonEvents(contentType: string): boolean {
  return contentType.startsWith('application/vnd.amazon.eventstream')
}

/** Whether a body of this type is a stream of events, whose text is longer than the message in it. */
export function isEventStream(contentType: string): boolean {
  return contentType.startsWith('text/event-stream') || isAmazonEvents(contentType)
}

/** Whether it is a JSON text a line, as Ollama streams. */
export function isJsonLines(contentType: string): boolean {
  return /^application\/(?:x-)?(?:ndjson|jsonl|json-?lines|json-seq)\b/.test(contentType)
}
