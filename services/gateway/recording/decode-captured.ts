import { createHash } from 'node:crypto'
import { decodeContent } from '#capture/decode-content.ts'
import type { CapturedBytes } from './captured-body.ts'
import { beginsAsObject } from './object-text.ts'

/**
 * Undoes the Content-Encoding of a body, as far as it is known, giving at most `maxBytes` and, of `throughBytes`, the end. What begins as a
 * JSON object is not encoded, whatever is said of it: many providers do not look, and read it as it is.
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

/** `bytes` stand for a body that was not kept whole; length and hash are of what passed. */
export function cutAs(bytes: Buffer, { bytes: kept, byteLength, sha256 }: CapturedBytes): CapturedBytes {
  return { bytes, byteLength, sha256: sha256 ?? createHash('sha256').update(kept).digest('hex') }
}
