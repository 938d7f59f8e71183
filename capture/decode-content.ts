import zlib from 'node:zlib'
import { codingNamed, type Coding } from './content-codings.ts'
import { lastBytes } from './usage-at-end.ts'

/**
 * Decoded content. `cut`: it was too long, broke off, or is followed by invalid bytes. `end`: the last bytes
 * of content that was too long but complete.
 */
export interface DecodedContent {
  bytes: Buffer
  cut: boolean
  end?: Buffer
}

/** More nested codings than anyone needs are a decompression bomb. */
const maxCodings = 3

/**
 * Decodes a `Content-Encoding` (gzip, deflate, br, zstd, or a comma-separated list) into at most `maxBytes`.
 * A broken body yields what could be decoded; a longer one is read up to `throughBytes` to find its end.
 * Undefined for an unknown coding.
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
  for (const name of codings.toReversed()) {
    const coding = codingNamed(name)
    if (coding === undefined) return undefined
    const inner = await decodeAtMost(coding, content.bytes, maxBytes, throughBytes)
    content = { ...inner, cut: content.cut || inner.cut }
  }
  return content
}

/**
 * Servers that compress each event of a stream write one frame per event. A frame takes 0.17 ms, however
 * short.
 */
const maxUnits = 10_000

/** Decodes unit by unit and ignores what follows the last; incomplete units are marked. */
async function decodeAtMost(
  coding: Coding,
  encoded: Buffer,
  maxBytes: number,
  throughBytes: number,
): Promise<DecodedContent> {
  const kept = createKept(maxBytes)
  let at = 0
  let isWhole = true
  for (let units = 0; isWhole && at < encoded.length; units++) {
    const isNext = units === 0 || (coding.hasUnits && units < maxUnits)
    const read = isNext ? await decodeUnit(coding, encoded.subarray(at), kept, throughBytes) : undefined
    isWhole = read !== undefined
    at += read ?? 0
  }
  return kept.content(isWhole, throughBytes)
}

/**
 * Length of the unit at the start of `encoded`; undefined if it is broken, incomplete, or exceeds
 * `throughBytes`.
 */
function decodeUnit(
  coding: Coding,
  encoded: Buffer,
  kept: Kept,
  throughBytes: number,
): Promise<number | undefined> {
  const head = coding.headBytes(encoded)
  if (head === undefined) return Promise.resolve(undefined)
  const body = encoded.subarray(head)
  const decoder = coding.decoder(body)
  const decoded = { crc32: 0, size: 0 }
  return new Promise((resolve) => {
    const finish = (unitBytes?: number) => {
      resolve(unitBytes)
      decoder.destroy()
    }
    decoder.on('data', (chunk: Buffer) => {
      kept.add(chunk)
      decoded.size += chunk.length
      if (coding.tailBytes > 0) decoded.crc32 = zlib.crc32(chunk, decoded.crc32)
      if (kept.size() > throughBytes) finish()
    })
    decoder.on('end', () => {
      const tailAt = decoder.bytesWritten
      const end = tailAt + coding.tailBytes
      const isWhole = end <= body.length && coding.isConfirmed(body.subarray(tailAt, end), decoded)
      finish(isWhole && head + end > 0 ? head + end : undefined)
    })
    // Broken data comes from the provider: keep what could be decoded.
    decoder.on('error', () => finish())
    // Written before `end`, so that an error at the end does not discard it.
    decoder.write(body)
    decoder.end()
  })
}

type Kept = ReturnType<typeof createKept>

function createKept(maxBytes: number) {
  const chunks: Buffer[] = []
  let size = 0
  let end: Buffer = Buffer.alloc(0)
  return {
    size: () => size,
    add(chunk: Buffer) {
      if (size < maxBytes) chunks.push(chunk)
      size += chunk.length
      if (size > maxBytes) end = lastBytes(end, chunk)
    },
    content(isWhole: boolean, throughBytes: number): DecodedContent {
      const bytes = Buffer.concat(chunks, Math.min(size, maxBytes))
      if (size <= maxBytes) return { bytes, cut: !isWhole }
      return isWhole && size <= throughBytes ? { bytes, cut: true, end } : { bytes, cut: true }
    },
  }
}
