import { promisify } from 'node:util'
import { constants, zstdCompress, zstdCompressSync, zstdDecompress, zstdDecompressSync } from 'node:zlib'
import kafkajs from 'kafkajs'

const compressAside = promisify(zstdCompress)
const decompressAside = promisify(zstdDecompress)

/**
 * Below this a batch is packed on the spot: the way to another thread and back costs 150 µs, the work 35 µs (5 kB of JSON, Node
 * 24). Larger ones would hold the event loop up.
 */
const onTheSpotBytes = 16 * 1024
/** The first is zlib's own. */
const [leastChunkBytes, mostChunkBytes] = [64, 128 * 1024]
const chunkBytesFor = (bytes: number) => Math.min(Math.max(bytes, leastChunkBytes), mostChunkBytes)

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
const unpackingOf = ({ length }: Buffer) => ({
  maxOutputLength: 256 * 1024 * 1024,
  chunkSize: chunkBytesFor(length * unpackedToPacked),
})

/** Teaches kafkajs zstd, which it knows only by number, with Node's own. */
export function registerZstd(): void {
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
    compress: async ({ buffer }: { buffer: Buffer }) =>
      buffer.length <= onTheSpotBytes
        ? zstdCompressSync(buffer, packingOf(buffer))
        : compressAside(buffer, packingOf(buffer)),
    decompress: async (packed: Buffer) =>
      packed.length <= onTheSpotBytes
        ? zstdDecompressSync(packed, unpackingOf(packed))
        : decompressAside(packed, unpackingOf(packed)),
  })
}
