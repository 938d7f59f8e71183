import { hasManyParts } from '../json.ts'
import { isDeeperThan } from './scan-json.ts'

/** Readers of bodies walk them; nobody sends this deep, and no stack is asked to hold more. */
export const maxBodyDepth = 200
/** Two of them, with the fields around them, are within what ingest takes of a record. */
const maxBodyParts = 240_000

/** Whether ingest takes a record with this JSON object for a body; it stands there as text otherwise. */
export function fitsRecord(json: string, bytes?: Buffer): boolean {
  return !hasManyParts(json, maxBodyParts) && !isDeeperThan(maxBodyDepth, json, bytes)
}
