import { createHash } from 'node:crypto'

/**
 * True if the request is in the share that a scorer scores. By a hash of the request id alone: replays pick
 * the same requests, and so do scorers with the same share, whose rubrics then go to the judge together.
 */
export function isSampled(requestId: string, share: number): boolean {
  const place = createHash('sha256').update(requestId).digest().readUIntBE(0, 6)
  return place < share * 2 ** 48
}
