import { hash, randomFillSync } from 'node:crypto'

/**
 * Identifiers are TypeIDs: a prefix and a UUIDv7 in Crockford base32 (`req_01h455vb4pex5vsknk084sn02q`).
 * Postgres stores the UUID; people see the prefix. The time in an identifier is the `created_at` of the
 * record, so a look-up touches one partition. Why no library: docs/decisions/0001.
 */
export const idPrefixes = {
  project: 'prj',
  key: 'key',
  request: 'req',
  score: 'scr',
  event: 'evt',
  run: 'run',
  webhook: 'whk',
  delivery: 'dlv',
  deadLetter: 'dlt',
  review: 'rev',
  erasure: 'ers',
  person: 'per',
  login: 'lgn',
  savedView: 'viw',
  audit: 'aud',
  finding: 'fnd',
  findingChange: 'fch',
  findingComment: 'fcm',
  alertRule: 'alr',
  suppression: 'sup',
  projectScorer: 'prs',
  scorerPreview: 'prv',
} as const

export type IdKind = keyof typeof idPrefixes

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const noDigit = 0xff
/** By character code. Small numbers: bigints cost 4% of a delivery. */
const digitOf = new Uint8Array(128).fill(noDigit)
for (let digit = 0; digit < alphabet.length; digit++) digitOf[alphabet.charCodeAt(digit)] = digit
const suffixLength = 26
const digits = Buffer.from(alphabet, 'latin1')
/** Rewritten for each identifier: joining single digits allocates for each. */
const suffix = Buffer.alloc(suffixLength)
/** 26 digits of 5 bits hold 130 bits: the first two are always zero. */
const spareBits = 2

/** Drawn for many identifiers at once: a draw costs as much as the rest of an identifier. */
const randomBytesPerId = 10
const randomness = Buffer.allocUnsafe(randomBytesPerId * 256)
let drawn = randomness.length

/** A new identifier of `kind`, made at `timeMs` (Unix milliseconds). */
export function newId(kind: IdKind, timeMs: number = Date.now()): string {
  const bytes = Buffer.allocUnsafe(16)
  if (drawn === randomness.length) {
    randomFillSync(randomness)
    drawn = 0
  }
  randomness.copy(bytes, 6, drawn, (drawn += randomBytesPerId))
  return idFromBytes(kind, stampUuidV7(bytes, timeMs))
}

/**
 * The same identifier for the same input: the time `timeMs` and, for the other 74 bits of a UUIDv7, the first
 * 74 bits of SHA-256 over `parts`. Each part is preceded by its length, so no two lists collide.
 */
export function hashedId(kind: IdKind, timeMs: number, parts: readonly string[]): string {
  let text = ''
  for (const part of parts) text += `${Buffer.byteLength(part)}:${part}`
  // One call for the whole text, with a character for each byte. A hash object and a Buffer cost more than
  // the hashing.
  const digest = hash('sha256', text, 'binary')
  const bytes = Buffer.allocUnsafe(16)
  // rand_a takes 12 bits and rand_b 62: bits 0–11 of the digest follow the version, bits 12–73 the variant.
  const pair = (at: number) => (digest.charCodeAt(at) << 8) | digest.charCodeAt(at + 1)
  bytes[6] = pair(0) >> 12
  bytes[7] = pair(0) >> 4
  for (let index = 0; index < 8; index++) bytes[8 + index] = pair(1 + index) >> 6
  return idFromBytes(kind, stampUuidV7(bytes, timeMs))
}

/** Whether `value` is a well-formed identifier of `kind`. */
export function isId(kind: IdKind, value: string): boolean {
  const prefix = idPrefixes[kind]
  return (
    value.startsWith(prefix) && value.charAt(prefix.length) === '_' && isSuffixAt(value, prefix.length + 1)
  )
}

/** The time in an identifier, in Unix milliseconds. Throws RangeError on what is not an identifier. */
export function idTimeMs(id: string): number {
  return idToBytes(id).readUIntBE(0, 6)
}

/** The UUID of an identifier, as Postgres stores it. Throws RangeError on what is not an identifier. */
export function idToUuid(id: string): string {
  const hex = idToBytes(id).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** The identifier of `kind` that Postgres stores as `uuid`. */
export function idFromUuid(kind: IdKind, uuid: string): string {
  const bytes = Buffer.from(uuid.replaceAll('-', ''), 'hex')
  if (bytes.length !== 16) throw new RangeError('not a UUID')
  return idFromBytes(kind, bytes)
}

/** The run of a project's live traffic. Replays have runs of their own. */
export function liveRunId(projectId: string): string {
  const known = liveRuns.get(projectId)
  if (known !== undefined) return known
  const runId = hashedId('run', idTimeMs(projectId), ['live', projectId])
  if (liveRuns.size >= maxLiveRuns) liveRuns.clear()
  liveRuns.set(projectId, runId)
  return runId
}

/** A cache: asked for every job and score, of few projects. */
const liveRuns = new Map<string, string>()
const maxLiveRuns = 10_000

/** The identifier of a scorer's score of one request in one run. Scoring again gives the same. */
export function scoreId(projectId: string, requestId: string, scorerName: string, runId: string): string {
  return hashedId('score', idTimeMs(requestId), [projectId, requestId, scorerName, runId])
}

function stampUuidV7(bytes: Buffer, timeMs: number): Buffer {
  bytes.writeUIntBE(timeMs, 0, 6)
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6)
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8)
  return bytes
}

function idFromBytes(kind: IdKind, bytes: Buffer): string {
  let written = 0
  let held = 0
  let heldBits = spareBits
  for (const byte of bytes) {
    held = (held << 8) | byte
    for (heldBits += 8; heldBits >= 5; heldBits -= 5)
      suffix[written++] = digits[(held >> (heldBits - 5)) & 31] as number
    held &= 31
  }
  return `${idPrefixes[kind]}_${suffix.toString('latin1')}`
}

/** The 16 bytes of its UUID. Throws RangeError on anything but an identifier. */
export function idToBytes(id: string): Buffer {
  const at = id.lastIndexOf('_') + 1
  if (!isSuffixAt(id, at)) throw new RangeError('not an identifier: expected a prefix and 26 base32 digits')
  const bytes = Buffer.allocUnsafe(16)
  let written = 0
  let bits = 0
  let held = -spareBits
  for (let index = at; index < id.length; index++) {
    bits = (bits << 5) | (digitOf[id.charCodeAt(index)] ?? noDigit)
    held += 5
    if (held < 8) continue
    held -= 8
    bytes[written++] = bits >> held
    bits &= (1 << held) - 1
  }
  return bytes
}

/** Allocates nothing: every identifier of every record is checked, most more than once. */
function isSuffixAt(id: string, at: number): boolean {
  if (id.length - at !== suffixLength || id.charAt(at) > '7') return false
  for (let index = at; index < id.length; index++) {
    if ((digitOf[id.charCodeAt(index)] ?? noDigit) === noDigit) return false
  }
  return true
}
