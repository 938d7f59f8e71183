/** An answer that violates HTTP. */
export class MalformedAnswer extends Error {}

/** Its headers or trailers exceed the limit. */
export class HeadTooLarge extends MalformedAnswer {}

/** Status line and headers of an answer. */
export interface AnswerHead {
  status: number
  reason: string
  /** Names and values in order, unchanged. */
  headers: string[]
  /** Body length; undefined: chunked, or until the connection ends. */
  length: number | undefined
  isChunked: boolean
  /** Whether the connection may serve another call. */
  keepAlive: boolean
  /** The server announces that it closes the connection, which overrides everything else. */
  closes: boolean
  /** How long the server keeps the connection; undefined: not given. */
  keepAliveMs: number | undefined
}

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: (.*))?$/
const token = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
/** Anything but visible characters, spaces, tabs and whole line breaks. */
const notText = /[^\t\r\n -~\u0080-\u00ff]|\r(?!\n)|(?<!\r)\n/
const keepAliveTimeout = /(?:^|[,;\s])timeout=(\d{1,6})/i

/** Parses what precedes the empty line, read as Latin-1. */
export function headOf(block: string): AnswerHead {
  if (notText.test(block)) throw new MalformedAnswer("the answer's headers hold what no header may")
  const lineEnd = block.indexOf('\r\n')
  const line = statusLine.exec(lineEnd === -1 ? block : block.slice(0, lineEnd))
  if (line === null) throw new MalformedAnswer('the answer does not begin as HTTP/1.1 does')
  const [, minor = '', status = '', reason = ''] = line
  const headers: string[] = []
  const head: AnswerHead = {
    status: Number(status),
    reason,
    headers,
    length: undefined,
    isChunked: false,
    keepAlive: minor === '1',
    closes: false,
    keepAliveMs: undefined,
  }
  if (lineEnd !== -1) readFields(block, lineEnd + 2, headers)
  for (let at = 0; at < headers.length; at += 2) take(head, headers[at] ?? '', headers[at + 1] ?? '')
  if (head.isChunked && head.length !== undefined)
    throw new MalformedAnswer('the answer has a length and chunks')
  return head
}

/** Parses the trailers after the last chunk. */
export function trailersOf(block: string): string[] {
  if (notText.test(block)) throw new MalformedAnswer("the answer's trailers hold what no header may")
  const trailers: string[] = []
  readFields(block, 0, trailers)
  return trailers
}

function readFields(block: string, start: number, into: string[]): void {
  for (let at = start; at < block.length;) {
    const next = block.indexOf('\r\n', at)
    const end = next === -1 ? block.length : next
    const colon = block.indexOf(':', at)
    const name = colon === -1 || colon > end ? '' : block.slice(at, colon)
    // Also refuses a folded line, and a space before the colon.
    if (!token.test(name)) throw new MalformedAnswer('a line of the headers has no name')
    into.push(name, valueBetween(block, colon + 1, end))
    at = end + 2
  }
}

/** Without surrounding spaces and tabs; `trim` would remove more. */
function valueBetween(block: string, start: number, end: number): string {
  let from = start
  let to = end
  while (from < to && isSpace(block.charCodeAt(from))) from++
  while (to > from && isSpace(block.charCodeAt(to - 1))) to--
  return block.slice(from, to)
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09
}

/**
 * Applies the headers that decide the answer's end and the connection's reuse. By length first: most names
 * are others.
 */
function take(head: AnswerHead, name: string, value: string): void {
  if (name.length === 14 && name.toLowerCase() === 'content-length') {
    if (head.length !== undefined || !/^\d{1,15}$/.test(value))
      throw new MalformedAnswer('the answer has no one length')
    head.length = Number(value)
  } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
    // Any other coding would have to be decoded before the bytes pass on.
    if (head.isChunked || value.toLowerCase() !== 'chunked')
      throw new MalformedAnswer('the answer has a transfer coding that is not known')
    head.isChunked = true
  } else if (name.length === 10 && name.toLowerCase() === 'connection') {
    const options = value.toLowerCase()
    if (/(?:^|[,\s])close(?:$|[,\s])/.test(options)) head.closes = true
    if (head.closes) head.keepAlive = false
    else if (options === 'keep-alive') head.keepAlive = true
  } else if (name.length === 10 && name.toLowerCase() === 'keep-alive') {
    const seconds = keepAliveTimeout.exec(value)?.[1]
    if (seconds !== undefined) head.keepAliveMs = Number(seconds) * 1_000
  }
}
