import { promisify } from 'node:util'
import { constants, zstdCompress, zstdCompressSync, zstdDecompress, zstdDecompressSync } from 'node:zlib'
import kafkajs from 'kafkajs'

const compressAside = promisify(zstdCompress)
/** With `info` Node tells how much of what it was given it read. */
interface Unpacked {
  buffer: Buffer
  engine: { bytesWritten: number }
}
type UnpackingOptions = ReturnType<typeof unpackingOf> & { info: true }
const decompressAside = promisify(zstdDecompress) as unknown as (
  packed: Buffer,
  options: UnpackingOptions,
) => Promise<Unpacked>
const decompressHere = zstdDecompressSync as unknown as (
  packed: Buffer,
  options: UnpackingOptions,
) => Unpacked

/**
 * Below this a batch is packed on the spot: the way to another thread and back costs 150 µs, the work 35 µs (5 kB of JSON, Node
 * 24). Larger ones would hold the event loop up.
 */
const onTheSpotBytes = 16 * 1024
/** The first is zlib's own. */
const [minChunkBytes, maxChunkBytes] = [64, 128 * 1024]
const chunkBytesFor = (bytes: number) => Math.min(Math.max(bytes, minChunkBytes), maxChunkBytes)

/** Level 1: bodies are compressed already when they are sealed, so more effort would find little. Tables and room are made for what is there, no more. */
const packingOf = ({ length }: Buffer) => ({
  params: { [constants.ZSTD_c_compressionLevel]: 1 },
  pledgedSrcSize: length,
  chunkSize: chunkBytesFor(length),
})
/** JSON packs to a third or a tenth. What unpacks to more has several chunks, what to less wastes the rest of one. */
const unpackedToPacked = 8
/**
 * A record batch is at most a few message sizes; what unpacks to more than this is not ours. Chunks of 128 kB for every batch had a consumer of
 * 200 small ones a second collect all of its garbage every 0.6 s, for 14 % of a core.
 */
const maxUnpackedBytes = 256 * 1024 * 1024
const unpackingOf = ({ length }: Buffer) => ({
  maxOutputLength: maxUnpackedBytes,
  chunkSize: chunkBytesFor(length * unpackedToPacked),
})

/** Teaches kafkajs zstd, which it knows only by number, with Node's own. */
export function registerZstd(): void {
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
    compress: async ({ buffer }: { buffer: Buffer }) =>
      buffer.length <= onTheSpotBytes
        ? zstdCompressSync(buffer, packingOf(buffer))
        : compressAside(buffer, packingOf(buffer)),
    decompress: unpack,
  })
}

/**
 * Frame by frame: other producers may write several (RFC 8878, 3.1), and Node ends behind the first
 * (nodejs/node#64741).
 */
async function unpack(packed: Buffer): Promise<Buffer> {
  const parts: Buffer[] = []
  let [at, size] = [0, 0]
  do {
    const rest = packed.subarray(at)
    const options = { ...unpackingOf(rest), info: true } as const
    const { buffer, engine } =
      rest.length <= onTheSpotBytes ? decompressHere(rest, options) : await decompressAside(rest, options)
    parts.push(buffer)
    size += buffer.length
    at += engine.bytesWritten
    if (size > maxUnpackedBytes)
      throw new RangeError(`a batch unpacks to more than ${maxUnpackedBytes} bytes`)
  } while (at < packed.length)
  return parts.length === 1 ? (parts[0] ?? packed) : Buffer.concat(parts, size)
}
