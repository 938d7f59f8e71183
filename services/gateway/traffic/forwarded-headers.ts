/** Headers in Node's raw form: name, value, name, value; in order, with duplicates. */
export type RawHeaders = readonly string[]

/** Headers of the connection. `host` names the gateway, and `expect` is answered by it. */
const requestHopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'host',
  'expect',
])
const responseHopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'transfer-encoding',
  'trailer',
  'upgrade',
])

/**
 * A `Connection` header may name further hop-by-hop headers, but never these, which the message depends on.
 */
const neverDropped = new Set([
  'authorization',
  'content-length',
  'content-type',
  'content-encoding',
  'api-key',
  'x-api-key',
  'x-goog-api-key',
])

const beyondAscii = /[\u0080-\u00ff]/
const servicePrefix = 'x-service-'
export const requestIdHeader = 'X-Service-Request-Id'

export interface SplitHeaders {
  forwarded: string[]
  /** `X-Service-*` by lower-case name: meant for the gateway, never forwarded. */
  service: Map<string, string>
}

/**
 * Splits headers into those for the provider and those for the gateway. Drops the `replaced` (lower case).
 */
export function splitRequestHeaders(
  raw: RawHeaders,
  replaced: ReadonlySet<string> | undefined,
): SplitHeaders {
  const forwarded: string[] = []
  const service = new Map<string, string>()
  const named = namedByConnection(raw)
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? ''
    const value = raw[at + 1] ?? ''
    const lower = name.toLowerCase()
    if (lower.startsWith(servicePrefix)) service.set(lower, value)
    else if (requestHopByHop.has(lower) || named?.has(lower) === true) continue
    else if (replaced?.has(lower) === true) continue
    else forwarded.push(name, value)
  }
  return { forwarded, service }
}

export interface AnswerHeaders {
  raw: string[]
  /** Undefined if the answer does not state it. */
  contentLength: number | undefined
  contentType: string
  contentEncoding: string
}

/** Headers for the application, and what the record needs of them. */
export function answerHeaders(raw: RawHeaders, requestId: string): AnswerHeaders {
  const answer: AnswerHeaders = { raw: [], contentLength: undefined, contentType: '', contentEncoding: '' }
  const named = namedByConnection(raw)
  let namesFile = false
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? ''
    const value = raw[at + 1] ?? ''
    const lower = name.toLowerCase()
    if (responseHopByHop.has(lower) || named?.has(lower) === true || lower === 'x-service-request-id')
      continue
    if (lower === 'content-length') answer.contentLength = Number(value)
    else if (lower === 'content-type') answer.contentType = value.toLowerCase()
    else if (lower === 'content-encoding' && value.toLowerCase() !== 'identity')
      answer.contentEncoding = value
    else if (lower === 'content-disposition' && beyondAscii.test(value)) namesFile = true
    answer.raw.push(name, value)
  }
  answer.raw.push(requestIdHeader, requestId)
  if (namesFile) answer.raw.push(...removeContentLength(answer.raw))
  return answer
}

/**
 * Removes Content-Length from `raw`. After one, Node 24 reads Content-Disposition as UTF-8, and throws or
 * sends other bytes.
 */
function removeContentLength(raw: string[]): string[] {
  const at = raw.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-length')
  return at === -1 ? [] : raw.splice(at, 2)
}

function namedByConnection(raw: RawHeaders): Set<string> | undefined {
  let named: Set<string> | undefined
  for (let at = 0; at < raw.length; at += 2) {
    if (raw[at]?.toLowerCase() !== 'connection') continue
    const value = raw[at + 1]?.toLowerCase() ?? ''
    if (value === 'keep-alive' || value === 'close') continue
    named ??= new Set()
    for (const name of value.split(',')) if (!neverDropped.has(name.trim())) named.add(name.trim())
  }
  return named
}

/** Pairs of name and value. */
export function pairsOf(raw: RawHeaders): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, at) => [raw[at * 2] ?? '', raw[at * 2 + 1] ?? ''])
}
