import type { Transform } from 'node:stream'
import zlib from 'node:zlib'
import { lastBytes } from './usage-at-end.ts'

/** What was decoded; `cut`: it was longer than asked for, or broke off. `end`: the last bytes of one that was longer and read to its end. */
export interface DecodedContent {
  bytes: Buffer
  cut: boolean
  end?: Buffer
}

/** More codings on top of each other than anybody means is a way to make a bomb. */
const maxCodings = 3

/**
 * Undoes a `Content-Encoding` (gzip, deflate, br, zstd; several separated by commas), giving at most `maxBytes`. A body that breaks off gives
 * what it held till there; one that is longer is read on for its end, up to `throughBytes`. Undefined for a coding that is not known.
 */
export async function decodeContent(
  contentEncoding: string,
  encoded: Buffer,
  maxBytes: number,
  throughBytes = maxBytes,
): Promise<DecodedContent | undefined> {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  if (codings.length > maxCodings) return undefined
  let content: DecodedContent = { bytes: encoded, cut: false }
  // The last coding was applied last.
  for (const coding of codings.toReversed()) {
    const decoder = decoderFor(coding, content.bytes)
    if (decoder === undefined) return undefined
    const inner = await decodeAtMost(decoder, content.bytes, maxBytes, throughBytes)
    content = { ...inner, cut: content.cut || inner.cut }
  }
  return content
}

/** Flushing instead of finishing: a body that was cut off gives what it has. */
function decoderFor(coding: string, encoded: Buffer): Transform | undefined {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH })
    case 'deflate':
      return isZlib(encoded)
        ? zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH })
        : zlib.createInflateRaw({ finishFlush: zlib.constants.Z_SYNC_FLUSH })
    case 'br':
      return zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH })
    case 'zstd':
      return zlib.createZstdDecompress({ finishFlush: zlib.constants.ZSTD_e_flush })
    default:
      return undefined
  }
}

/** `deflate` means the zlib format (RFC 1950), but some send bare deflate (RFC 1951). */
function isZlib(encoded: Buffer): boolean {
  return encoded.length >= 2 && ((encoded[0] ?? 0) & 0x0f) === 8 && encoded.readUInt16BE(0) % 31 === 0
}

function decodeAtMost(
  decoder: Transform,
  encoded: Buffer,
  maxBytes: number,
  throughBytes: number,
): Promise<DecodedContent> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    let end: Buffer = Buffer.alloc(0)
    const finish = (cut: boolean) => {
      const bytes = Buffer.concat(chunks, Math.min(size, maxBytes))
      resolve(cut || size <= maxBytes ? { bytes, cut } : { bytes, cut: true, end })
      decoder.destroy()
    }
    decoder.on('data', (chunk: Buffer) => {
      if (size < maxBytes) chunks.push(chunk)
      size += chunk.length
      if (size > maxBytes) end = lastBytes(end, chunk)
      if (size > throughBytes) finish(true)
    })
    decoder.on('end', () => finish(false))
    // Broken data is the provider's; what was readable is the record.
    decoder.on('error', () => finish(true))
    decoder.end(encoded)
  })
}
