import { createHash } from 'node:crypto'
import { kindOfMedia, typeOfBytes, type MediaPart } from './media-part.ts'

/** Longer than any beginning that names a type. */
const keptBytes = 64

/** Media whose bytes pass. */
export interface PassingMedia {
  add(bytes: Buffer): void
  part(): MediaPart
}

/** Counts and hashes media. `type`: as its sender says, which its first bytes may correct. */
export function passingMedia(type: string | null, filename?: string): PassingMedia {
  const hash = createHash('sha256')
  let beginning = Buffer.alloc(0)
  let byteLength = 0
  return {
    add(bytes) {
      hash.update(bytes)
      byteLength += bytes.length
      if (beginning.length < keptBytes) beginning = Buffer.concat([beginning, bytes.subarray(0, keptBytes)])
    },
    part() {
      const said = type === 'application/octet-stream' ? null : type
      const mediaType = said ?? typeOfBytes(beginning) ?? type
      return {
        media: kindOfMedia(mediaType),
        media_type: mediaType,
        bytes: byteLength,
        sha256: hash.copy().digest('hex'),
        ...(filename === undefined ? {} : { filename }),
      }
    },
  }
}
