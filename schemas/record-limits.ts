const kibibyte = 1024

/** Headers that a dead letter adds to its record; the error message is the longest (4 kB). */
export const deadLetterRoomBytes = 64 * kibibyte
/** What a record, or the job made of it, adds to its JSON: Avro, identifiers, names of scorers. */
const recordRoomBytes = 64 * kibibyte
/** A gateway's record besides its two bodies: headers of the call are at most 64 KiB. */
const callBudgetBytes = 64 * kibibyte

/**
 * The largest record of a call over HTTP that still fits records of `maxRecordBytes` with everything added.
 */
export function callBytesWithin(maxRecordBytes: number): number {
  return maxRecordBytes - deadLetterRoomBytes - recordRoomBytes
}

/** The largest body of a call whose other body is as large. */
export function bodyBytesWithin(maxRecordBytes: number): number {
  return Math.floor((callBytesWithin(maxRecordBytes) - callBudgetBytes) / 2)
}
