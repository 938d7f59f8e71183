/** How a JSON object begins. */
const beginning = /^\s*\{\s*["}]/
/** A brace, white space, or the first byte of UTF-16, UTF-32 or a byte order mark. */
const firstBytes: ReadonlySet<number | undefined> = new Set([
  0x7b, 0x20, 0x09, 0x0a, 0x0d, 0, 0xef, 0xfe, 0xff,
])
/** Too short to decide; the last character may be truncated. */
const undecided = /^\s*(?:\{\s*)?\ufffd*$/
/** Bytes examined first; a whole number of characters in every encoding but UTF-8. */
const firstLook = 256
const replacement = 0xfffd
const lastCodePoint = 0x10ffff

/**
 * Text of bytes that begin as a JSON object, in any encoding that a provider may accept; undefined for other
 * bytes. Go and JavaScript read UTF-8, with U+FFFD for invalid bytes. Python also detects UTF-16 and UTF-32
 * by the position of zero bytes.
 */
export function objectText(bytes: Buffer): string | undefined {
  if (!firstBytes.has(bytes[0])) return undefined
  const text = decoded(bytes)
  return beginning.test(text) ? text : undefined
}

/** Whether `objectText` returns a text, decided from the first bytes where possible. */
export function beginsAsObject(bytes: Buffer): boolean {
  if (!firstBytes.has(bytes[0])) return false
  const text = decoded(bytes.subarray(0, firstLook))
  return beginning.test(text) || (undecided.test(text) && objectText(bytes) !== undefined)
}

function decoded(bytes: Buffer): string {
  const [a = 1, b = 1, c = 1, d = 1] = bytes
  if (
    (a === 0 && b === 0) ||
    (a === 0xff && b === 0xfe && c === 0 && d === 0) ||
    (b === 0 && c === 0 && d === 0)
  )
    return utf32(bytes, a === 0)
  if (a === 0 || (a === 0xfe && b === 0xff)) return new TextDecoder('utf-16be').decode(bytes)
  if (b === 0 || (a === 0xff && b === 0xfe)) return new TextDecoder('utf-16le').decode(bytes)
  return new TextDecoder().decode(bytes)
}

/** Converts to UTF-16 in one allocation: 4 MiB as one string per character would take a hundred. */
function utf32(bytes: Buffer, isBigEndian: boolean): string {
  const units = new Uint16Array(bytes.length / 2)
  let length = 0
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const code = isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)
    if (code > 0xffff && code <= lastCodePoint) {
      units[length++] = 0xd800 + ((code - 0x10000) >> 10)
      units[length++] = 0xdc00 + (code & 0x3ff)
    } else units[length++] = code > lastCodePoint ? replacement : code
  }
  return new TextDecoder('utf-16le').decode(units.subarray(0, length))
}
