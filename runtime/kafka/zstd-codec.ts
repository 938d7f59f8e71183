import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import kafkajs from 'kafkajs'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** A record batch is at most a few message sizes; what unpacks to more than this is not ours. */
const maxUnpackedBytes = 256 * 1024 * 1024

/**
 * Teaches kafkajs zstd, which it knows only by number, with Node's own. Level 1: bodies are compressed already when they
 * are sealed, so more effort would find little.
 */
export function registerZstd(): void {
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
    compress: (encoder: { buffer: Buffer }) =>
      compress(encoder.buffer, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
    decompress: (packed: Buffer) => decompress(packed, { maxOutputLength: maxUnpackedBytes }),
  })
}
