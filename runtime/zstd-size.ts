const magic = 0xfd2f_b528
/**
 * Size field bytes by the first two bits of the descriptor. 0: one byte in a single-segment frame, else none.
 */
const sizeBytes = [0, 2, 4, 8]
const dictionaryBytes = [0, 1, 2, 4]

/** The decompressed size in a zstd frame (RFC 8878, 3.1.1.1); undefined: none given, or not a frame. */
export function zstdContentSize(frame: Buffer): number | undefined {
  if (frame.length < 18 || frame.readUInt32LE(0) !== magic) return undefined
  const descriptor = frame.readUInt8(4)
  const isSingle = (descriptor & 0x20) !== 0
  const at = 5 + (isSingle ? 0 : 1) + (dictionaryBytes[descriptor & 3] ?? 0)
  const length = sizeBytes[descriptor >> 6] ?? 0
  if (length === 0) return isSingle ? frame.readUInt8(at) : undefined
  if (length === 8) return Number(frame.readBigUInt64LE(at))
  // Two-byte sizes start where one byte ends.
  return frame.readUIntLE(at, length) + (length === 2 ? 256 : 0)
}
