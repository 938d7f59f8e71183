import { promisify } from 'node:util'
import { constants, zstdCompress, zstdCompressSync, zstdDecompress, zstdDecompressSync } from 'node:zlib'
import kafkajs from 'kafkajs'

const compressAside = promisify(zstdCompress)
/** With `info` Node reports how much of its input it read. */
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
 * Smaller batches are compressed synchronously: a round trip to a thread costs 150 µs, the work 35 µs (5 kB
 * of JSON, Node 24). Larger ones would block the event loop.
 */
const onTheSpotBytes = 16 * 1024
/** The minimum is zlib's own. */
const [minChunkBytes, maxChunkBytes] = [64, 128 * 1024]
const chunkBytesFor = (bytes: number) => Math.min(Math.max(bytes, minChunkBytes), maxChunkBytes)

/**
 * Level 1: sealed bodies are already compressed, so more effort gains little. Tables and buffers are sized to
 * the input.
 */
const packingOf = ({ length }: Buffer) => ({
  params: { [constants.ZSTD_c_compressionLevel]: 1 },
  pledgedSrcSize: length,
  chunkSize: chunkBytesFor(length),
})
/**
 * JSON shrinks to a third or a tenth. Above this ratio the output takes several chunks; below it wastes part
 * of one.
 */
const unpackedToPacked = 8
/**
 * A larger batch is not ours: a record batch is at most a few times the message limit. With 128 kB chunks for
 * every batch, a consumer of 200 small ones a second ran a full collection every 0.6 s, for 14 % of a core.
 */
const maxUnpackedBytes = 256 * 1024 * 1024
const unpackingOf = ({ length }: Buffer) => ({
  maxOutputLength: maxUnpackedBytes,
  chunkSize: chunkBytesFor(length * unpackedToPacked),
})

/** Adds zstd to kafkajs, which knows only its number, by Node's own implementation. */
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
 * Decodes frame by frame: a producer may write several (RFC 8878, 3.1), and Node stops after the first
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
