import { objectOf, parseJson } from '../json.ts'

export interface ServerSentEvent {
  /** The `event:` field; empty where there is none. */
  name: string
  /** The `data:` lines, joined by line breaks. */
  data: string
}

/**
 * The complete events of a `text/event-stream`, which may begin with a byte order mark. One that was cut off at the end is left out, one whose
 * blank line alone is missing there is not: clients that read by lines have it. So have they each of several JSON objects in one event.
 */
export function parseServerSentEvents(stream: string): ServerSentEvent[] {
  const text = stream.startsWith('\ufeff') ? stream.slice(1) : stream
  const events: ServerSentEvent[] = []
  let name = ''
  let data: string[] = []
  const take = (lines: readonly string[]) => {
    if (lines.length === 1 || !lines.every(looksWhole)) events.push({ name, data: lines.join('\n') })
    else for (const line of lines) events.push({ name, data: line })
  }
  // A regular expression takes three times as long, and few providers write carriage returns.
  const lines = text.includes('\r') ? text.split(/\r\n|\n|\r/) : text.split('\n')
  // What follows the last line break is a line only where something does.
  if (lines.at(-1) === '') lines.pop()
  for (const line of lines) {
    if (line === '') {
      if (data.length > 0) take(data)
      name = ''
      data = []
      continue
    }
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    if (field === 'data') data.push(valueAfter(line, colon))
    else if (field === 'event') name = valueAfter(line, colon)
  }
  const pending = wholeOf(data)
  if (pending.length > 0) take(pending)
  return events
}

function valueAfter(line: string, colon: number): string {
  if (colon === -1) return ''
  return line.slice(line.charAt(colon + 1) === ' ' ? colon + 2 : colon + 1)
}

const endMark = '[DONE]'

/** Of lines that make up no JSON together, where each of them does. */
function looksWhole(line: string): boolean {
  return (line.startsWith('{') && line.endsWith('}')) || line === endMark
}

/** What is whole of an event that the stream ended in: all of it, or the objects before the line that was cut off. */
function wholeOf(data: readonly string[]): readonly string[] {
  if (data.length === 0 || isWhole(data.join('\n')) || (data.every(looksWhole) && isWhole(data.at(-1) ?? '')))
    return data
  const before = data.slice(0, -1)
  return before.every(looksWhole) ? before : []
}

function isWhole(data: string): boolean {
  return data === endMark || objectOf(parseJson(data)) !== undefined
}
