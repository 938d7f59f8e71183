const kibibyte = 1024

/**
 * What a dead letter adds to the record that it keeps: headers, of which the error's message is the longest
 * (4 kB).
 */
export const deadLetterRoomBytes = 64 * kibibyte
/**
 * What a record, or the job made of it, adds to the JSON that it came as: Avro, identifiers, the names of
 * scorers.
 */
const recordRoomBytes = 64 * kibibyte
/** What a gateway's record holds besides its two bodies: headers of the call are 64 KiB at most. */
const callBudgetBytes = 64 * kibibyte

/**
 * The largest record of a call, as it comes over HTTP, of which everything fits where records have at most so
 * many bytes.
 */
export function callBytesWithin(maxRecordBytes: number): number {
  return maxRecordBytes - deadLetterRoomBytes - recordRoomBytes
}

/** The largest body of a call whose other body is as large. */
export function bodyBytesWithin(maxRecordBytes: number): number {
  return Math.floor((callBytesWithin(maxRecordBytes) - callBudgetBytes) / 2)
}
