import type { Transform } from 'node:stream'
import zlib from 'node:zlib'

/** A Node decoder that ends with its unit. `bytesWritten`: how much of the input it consumed. */
type Decoder = Transform & Pick<zlib.Zlib, 'bytesWritten'>

/** A content coding: one compressed stream, or a sequence of units. */
export interface Coding {
  hasUnits: boolean
  /** Bytes of a unit before the decoder's input; undefined for an invalid or incomplete header. */
  headBytes(encoded: Buffer): number | undefined
  decoder(encoded: Buffer): Decoder
  /** Bytes of a unit after the decoder's input. */
  tailBytes: number
  /** Whether the tail's checksum matches. */
  isConfirmed(tail: Buffer, decoded: { crc32: number; size: number }): boolean
}

const stream = { hasUnits: false, headBytes: () => 0, tailBytes: 0, isConfirmed: () => true }

/**
 * Members (RFC 1952) are decoded one by one: Node's decoder loses up to 16 kB when invalid data follows the
 * last.
 */
const gzip: Coding = {
  hasUnits: true,
  headBytes: gzipHeadBytes,
  decoder: () => zlib.createInflateRaw(),
  tailBytes: 8,
  isConfirmed: (tail, { crc32, size }) =>
    tail.readUInt32LE(0) === crc32 && tail.readUInt32LE(4) === size % 2 ** 32,
}

const codings: ReadonlyMap<string, Coding> = new Map<string, Coding>([
  ['gzip', gzip],
  ['x-gzip', gzip],
  [
    'deflate',
    {
      ...stream,
      decoder: (encoded) => (isZlib(encoded) ? zlib.createInflate() : zlib.createInflateRaw()),
    },
  ],
  ['br', { ...stream, decoder: () => zlib.createBrotliDecompress() }],
  // Frames and skippable frames (RFC 8878, 3.1). Node's decoder ends after the first (nodejs/node#64741).
  ['zstd', { ...stream, hasUnits: true, decoder: () => zlib.createZstdDecompress() }],
])

export function codingNamed(name: string): Coding | undefined {
  return codings.get(name)
}

/** `deflate` means the zlib format (RFC 1950), but some servers send raw deflate (RFC 1951). */
function isZlib(encoded: Buffer): boolean {
  return encoded.length >= 2 && ((encoded[0] ?? 0) & 0x0f) === 8 && encoded.readUInt16BE(0) % 31 === 0
}

const fixedHeadBytes = 10
const flags = { headerCrc: 2, extra: 4, name: 8, comment: 16 } as const

function gzipHeadBytes(encoded: Buffer): number | undefined {
  if (encoded.length < fixedHeadBytes || encoded.readUIntBE(0, 3) !== 0x1f8b08) return undefined
  const given = encoded[3] ?? 0
  let at = fixedHeadBytes
  if ((given & flags.extra) !== 0) {
    if (at + 2 > encoded.length) return undefined
    at += 2 + encoded.readUInt16LE(at)
  }
  for (const text of [flags.name, flags.comment]) {
    if ((given & text) === 0) continue
    const end = encoded.indexOf(0, at)
    if (end === -1) return undefined
    at = end + 1
  }
  if ((given & flags.headerCrc) !== 0) at += 2
  return at <= encoded.length ? at : undefined
}
