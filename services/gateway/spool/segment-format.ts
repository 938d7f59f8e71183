import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { messageOf } from '#runtime/errors.ts'
import { nextNonce, nonceBytes } from '#runtime/next-nonce.ts'

/**
 * A segment is a header and frames, only ever appended to:
 *
 *   header  "SLSP", version (1 byte), 3 bytes of zero
 *   frame   length of the content (u32 le), CRC-32 of the content (u32 le), content
 *   content 0 and the record; or 1, nonce (12), AES-256-GCM ciphertext, tag (16)
 *
 * A process that is killed leaves at most one torn frame, at the end.
 */
export const segmentVersion = 1
export const headerBytes = 8
const frameBytes = 8
const plain = 0
const encrypted = 1
const tagBytes = 16
const purpose = Buffer.from('sluice-spool-1')
const plainMark = Buffer.from([plain])

export function segmentHeader(): Buffer {
  return Buffer.from([0x53, 0x4c, 0x53, 0x50, segmentVersion, 0, 0, 0])
}

/** The version of a segment, or undefined for a file that is none. */
export function versionOfHeader(header: Buffer): number | undefined {
  return header.length >= headerBytes && header.toString('latin1', 0, 4) === 'SLSP' ? header[4] : undefined
}

/** A frame as it is written: `parts` one behind the other. */
export interface Frame {
  parts: readonly Buffer[]
  byteLength: number
}

/** The frame of one record, encrypted when there is a key. In parts, so that the record is not copied once more to be written. */
export function frameOf(record: Buffer, key: KeyObject | undefined): Frame {
  const content = key === undefined ? [plainMark, record] : sealed(record, key)
  const head = Buffer.allocUnsafe(frameBytes)
  const contentBytes = content.reduce((sum, part) => sum + part.length, 0)
  head.writeUInt32LE(contentBytes, 0)
  head.writeUInt32LE(
    content.reduce((sum, part) => crc32(part, sum), 0),
    4,
  )
  return { parts: [head, ...content], byteLength: frameBytes + contentBytes }
}

/** The same in one piece. */
export function encodeFrame(record: Buffer, key: KeyObject | undefined): Buffer {
  return Buffer.concat(frameOf(record, key).parts)
}

function sealed(record: Buffer, key: KeyObject): Buffer[] {
  const head = Buffer.allocUnsafe(1 + nonceBytes)
  head[0] = encrypted
  const nonce = nextNonce()
  nonce.copy(head, 1)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(purpose)
  const text = cipher.update(record)
  cipher.final()
  return [head, text, cipher.getAuthTag()]
}

export type FrameAt =
  /** `record` is null when the key that it needs is not here. */
  | { kind: 'frame'; record: Buffer | null; end: number }
  /** Nothing follows, or not a whole frame. */
  | { kind: 'torn' }
  /** The bytes are not what was written. */
  | { kind: 'corrupt' }

/** How many bytes the frame at the start of `bytes` has, its head included. */
export function lengthOfFrame(bytes: Buffer): number {
  return bytes.length < frameBytes ? frameBytes : frameBytes + bytes.readUInt32LE(0)
}

/** Reads the frame at `offset` of a segment's bytes. */
export function decodeFrame(bytes: Buffer, offset: number, key: KeyObject | undefined): FrameAt {
  if (bytes.length - offset < frameBytes) return { kind: 'torn' }
  const start = offset + frameBytes
  const end = start + bytes.readUInt32LE(offset)
  if (end > bytes.length) return { kind: 'torn' }
  const content = bytes.subarray(start, end)
  if (content.length === 0 || crc32(content) !== bytes.readUInt32LE(offset + 4)) return { kind: 'corrupt' }
  return { kind: 'frame', record: open(content, key), end }
}

function open(content: Buffer, key: KeyObject | undefined): Buffer | null {
  if (content[0] === plain) return content.subarray(1)
  if (content[0] !== encrypted || key === undefined || content.length < 1 + nonceBytes + tagBytes) return null
  const decipher = createDecipheriv('aes-256-gcm', key, content.subarray(1, 1 + nonceBytes))
  decipher.setAAD(purpose).setAuthTag(content.subarray(content.length - tagBytes))
  try {
    return Buffer.concat([
      decipher.update(content.subarray(1 + nonceBytes, content.length - tagBytes)),
      decipher.final(),
    ])
  } catch (error) {
    // The checksum fits, so these are the bytes that were written: under another key.
    if (messageOf(error).includes('authenticate')) return null
    throw error
  }
}
