import { createHash } from 'node:crypto'
import { decodeContent } from '#capture/decode-content.ts'
import type { CapturedBytes } from './captured-body.ts'
import { beginsAsObject } from './object-text.ts'

/**
 * Decodes a body by its Content-Encoding, into at most `maxBytes`; finds the end within `throughBytes`. A
 * body that starts as a JSON object is not decoded: many providers ignore a wrong header.
 */
export async function decodeCaptured(
  captured: CapturedBytes,
  contentEncoding: string,
  maxBytes: number,
  throughBytes = maxBytes,
): Promise<CapturedBytes> {
  if (beginsAsObject(captured.bytes)) return captured
  const decoded = await decodeContent(contentEncoding, captured.bytes, maxBytes, throughBytes)
  if (decoded === undefined) return captured
  if (captured.sha256 === null && !decoded.cut) return { ...captured, bytes: decoded.bytes }
  const cut = cutAs(decoded.bytes, captured)
  return captured.sha256 === null && decoded.end !== undefined ? { ...cut, end: decoded.end } : cut
}

/** Marks `bytes` as truncated, with length and hash of the original body. */
export function cutAs(bytes: Buffer, { bytes: kept, byteLength, sha256 }: CapturedBytes): CapturedBytes {
  return { bytes, byteLength, sha256: sha256 ?? createHash('sha256').update(kept).digest('hex') }
}
