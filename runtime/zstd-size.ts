const magic = 0xfd2f_b528
/** By the first two bits of the descriptor. 0: one byte in a frame of a single segment, else none. */
const sizeBytes = [0, 2, 4, 8]
const dictionaryBytes = [0, 1, 2, 4]

/** The unpacked size that a zstd frame names (RFC 8878, 3.1.1.1); undefined: it names none, or is no frame. */
export function zstdContentSize(frame: Buffer): number | undefined {
  if (frame.length < 18 || frame.readUInt32LE(0) !== magic) return undefined
  const descriptor = frame.readUInt8(4)
  const isSingle = (descriptor & 0x20) !== 0
  const at = 5 + (isSingle ? 0 : 1) + (dictionaryBytes[descriptor & 3] ?? 0)
  const length = sizeBytes[descriptor >> 6] ?? 0
  if (length === 0) return isSingle ? frame.readUInt8(at) : undefined
  if (length === 8) return Number(frame.readBigUInt64LE(at))
  // Sizes that one byte could hold are left out of two.
  return frame.readUIntLE(at, length) + (length === 2 ? 256 : 0)
}
