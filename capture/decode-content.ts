import zlib from 'node:zlib'
import { codingNamed, type Coding } from './content-codings.ts'
import { lastBytes } from './usage-at-end.ts'

/**
 * What was decoded; `cut`: it was longer than asked for, broke off, or has bytes behind it that belong to
 * nothing. `end`: the last bytes of one that was longer and read to its end.
 */
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
  for (const name of codings.toReversed()) {
    const coding = codingNamed(name)
    if (coding === undefined) return undefined
    const inner = await decodeAtMost(coding, content.bytes, maxBytes, throughBytes)
    content = { ...inner, cut: content.cut || inner.cut }
  }
  return content
}

/**
 * Servers that compress each event of a stream by itself make a frame for each; one takes 0.17 ms, however
 * little is in it.
 */
const maxUnits = 10_000

/** Unit by unit: what comes behind the last one is no content, and what is not a whole body says so. */
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
 * How many bytes the unit at the start of `encoded` has; undefined: it is broken, breaks off, or goes beyond
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
    // Broken data is the provider's; what was readable is the record.
    decoder.on('error', () => finish())
    // Written before the end is: what the end finds missing takes back nothing.
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
