export interface ServerSentEvent {
  /** The `event:` field; empty where there is none. */
  name: string
  /** The `data:` lines, joined by line breaks. */
  data: string
}

/** The complete events of a `text/event-stream`, which may begin with a byte order mark. One that was cut off at the end is left out. */
export function parseServerSentEvents(stream: string): ServerSentEvent[] {
  const text = stream.startsWith('\ufeff') ? stream.slice(1) : stream
  const events: ServerSentEvent[] = []
  let name = ''
  let data: string[] = []
  // A regular expression takes three times as long, and few providers write carriage returns.
  const lines = text.includes('\r') ? text.split(/\r\n|\n|\r/) : text.split('\n')
  // What follows the last line break is no whole line.
  lines.pop()
  for (const line of lines) {
    if (line === '') {
      if (data.length > 0) events.push({ name, data: data.join('\n') })
      name = ''
      data = []
      continue
    }
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    if (field === 'data') data.push(valueAfter(line, colon))
    else if (field === 'event') name = valueAfter(line, colon)
  }
  return events
}

function valueAfter(line: string, colon: number): string {
  if (colon === -1) return ''
  return line.slice(line.charAt(colon + 1) === ' ' ? colon + 2 : colon + 1)
}
