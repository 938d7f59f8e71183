/**
 * Finds the parts of a JSON text, so that their original bytes can be kept: re-serialising would change big
 * integers, escapes and key order. For invalid JSON the result is arbitrary, but it terminates.
 */

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

export interface Member {
  bytes: Buffer
  /** 0 for a plain value, 1 for `{}`, 2 for `{"a": []}`. */
  depth: number
}

/**
 * The first `max` members of a JSON object by name; for a repeated name the last, as in JSON.parse. Throws
 * SyntaxError for an invalid name.
 */
export function scanMembers(json: Buffer, max = Infinity): Map<string, Member> {
  const members = new Map<string, Member>()
  visitMembers(json, (name, member) => members.set(name, member), max)
  return members
}

/** Visits the first `max` members of a JSON object in order, also those whose name comes again. */
export function visitMembers(
  json: Buffer,
  visit: (name: string, member: Member) => void,
  max = Infinity,
): void {
  let at = skipSpace(json, 0) + 1
  for (let seen = 0; ; seen += 1) {
    at = skipSpace(json, at)
    if (json[at] === closeBrace || at >= json.length || seen === max) return
    const keyEnd = endOfString(json, at)
    const key = JSON.parse(json.toString('utf8', at, keyEnd)) as string
    at = skipSpace(json, keyEnd)
    if (json[at] === colon) at = skipSpace(json, at + 1)
    const { end, depth } = endOfValue(json, at)
    visit(key, { bytes: json.subarray(at, end), depth })
    at = skipSpace(json, end)
    if (json[at] === comma) at += 1
  }
}

/** The elements of a JSON array, at most `max` + 1. */
export function scanElements(json: Buffer, max = Infinity): Buffer[] {
  const elements: Buffer[] = []
  let at = skipSpace(json, 0) + 1
  for (;;) {
    at = skipSpace(json, at)
    if (json[at] === closeBracket || at >= json.length || elements.length > max) return elements
    const { end } = endOfValue(json, at)
    if (end === at) return elements
    elements.push(json.subarray(at, end))
    at = skipSpace(json, end)
    if (json[at] === comma) at += 1
  }
}

/** Nesting depth of a JSON value (`Member.depth`), including every value of a repeated name. */
function depthOf(json: Buffer): number {
  return endOfValue(json, skipSpace(json, 0)).depth
}

/** The JSON value at the start of `json`, ignoring what follows. */
export function firstValue(json: Buffer): Buffer {
  return json.subarray(0, endOfValue(json, 0).end)
}

/** Counts brackets first, which rules out depth in a tenth of the time of a scan. */
export function isDeeperThan(levels: number, text: string, bytes?: Buffer): boolean {
  const opens = timesIn(text, '{', levels) + timesIn(text, '[', levels)
  return opens > levels && depthOf(bytes ?? Buffer.from(text)) > levels
}

/** Occurrences of `character` in `text`, counted up to `max` + 1. */
export function timesIn(text: string, character: string, max = Infinity): number {
  let times = 0
  for (let at = text.indexOf(character); at !== -1 && times <= max; at = text.indexOf(character, at + 1))
    times += 1
  return times
}

/**
 * The number of objects, arrays and strings (names included) in a JSON text, counted up to `max` + 1.
 * JSON.parse takes up to 92 bytes of heap for each, and almost nothing for a number: a list of vectors has
 * few parts.
 */
export function countParts(json: Buffer, max = Infinity): number {
  let parts = 0
  let at = 0
  while (at < json.length && parts <= max) {
    const byte = json[at]
    if (byte === quote) {
      parts += 1
      at = endOfString(json, at)
      continue
    }
    if (byte === openBrace || byte === openBracket) parts += 1
    at += 1
  }
  return parts
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function skipSpace(json: Buffer, from: number): number {
  let at = from
  while (isSpace(json[at])) at += 1
  return at
}

/** The offset after the string that starts at `from`. */
function endOfString(json: Buffer, from: number): number {
  let at = from
  for (;;) {
    at = json.indexOf(quote, at + 1)
    if (at === -1) return json.length
    let before = at - 1
    while (json[before] === backslash) before -= 1
    // An even number of backslashes escapes only themselves.
    if ((at - before) % 2 === 1) return at + 1
  }
}

function endOfValue(json: Buffer, from: number): { end: number; depth: number } {
  let open = 0
  let depth = 0
  let at = from
  while (at < json.length) {
    const byte = json[at]
    if (byte === quote) {
      at = endOfString(json, at)
      if (open === 0) break
      continue
    }
    if (open === 0 && (byte === comma || byte === closeBrace || byte === closeBracket || isSpace(byte))) break
    at += 1
    if (byte === openBrace || byte === openBracket) depth = Math.max(depth, ++open)
    else if ((byte === closeBrace || byte === closeBracket) && --open === 0) break
  }
  return { end: at, depth }
}
