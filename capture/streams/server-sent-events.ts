import { objectOf, parseJson } from '../json.ts'

export interface ServerSentEvent {
  /** The `event:` field; empty without one. */
  name: string
  /** The `data:` lines, joined by line breaks. */
  data: string
}

/**
 * Events of a `text/event-stream`, with or without a byte order mark. A truncated last event is dropped,
 * unless only its blank line is missing. An event with several JSON objects is split, as clients that read by
 * lines do.
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
  // A regular expression takes three times as long, and few providers send carriage returns.
  const lines = text.includes('\r') ? text.split(/\r\n|\n|\r/) : text.split('\n')
  // The text after the last line break is a line only if not empty.
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

/** Lines that are JSON only one by one. */
function looksWhole(line: string): boolean {
  return (line.startsWith('{') && line.endsWith('}')) || line === endMark
}

/** The complete part of the last event: all of it, or the objects before a truncated line. */
function wholeOf(data: readonly string[]): readonly string[] {
  if (data.length === 0 || isWhole(data.join('\n')) || (data.every(looksWhole) && isWhole(data.at(-1) ?? '')))
    return data
  const before = data.slice(0, -1)
  return before.every(looksWhole) ? before : []
}

function isWhole(data: string): boolean {
  return data === endMark || objectOf(parseJson(data)) !== undefined
}
