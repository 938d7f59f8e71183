import { hasManyParts } from '../json.ts'
import { isDeeperThan } from './scan-json.ts'

/** Depth limit that protects the stack of body readers. No real body is so deep. */
export const maxBodyDepth = 200
/** Two such bodies and the other fields fit ingest's limit. */
const maxBodyParts = 240_000

/** Whether ingest accepts a record with this JSON object as a body; otherwise it is recorded as text. */
export function fitsRecord(json: string, bytes?: Buffer): boolean {
  return !hasManyParts(json, maxBodyParts) && !isDeeperThan(maxBodyDepth, json, bytes)
}
