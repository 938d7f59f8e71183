import { createHash } from 'node:crypto'

/**
 * Whether a request is among the share of requests that a scorer scores. By a hash of the request's id alone: a replay takes
 * the same ones, and scorers of one share take the same ones too, so that their rubrics are still asked together.
 */
export function isSampled(requestId: string, share: number): boolean {
  const place = createHash('sha256').update(requestId).digest().readUIntBE(0, 6)
  return place < share * 2 ** 48
}
