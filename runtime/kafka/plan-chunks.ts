import { MAX_TRIES, triesBefore, type Suspects } from './crash-marks.ts'
import { weightBytes, type RawRecord } from './raw-record.ts'

/** Records of one partition that are handled at once. */
export interface Chunk {
  records: readonly RawRecord[]
  /** The number of their next try. Above MAX_TRIES they are dead-lettered instead. */
  tries: number
}

export interface ChunkLimits {
  maxRecords: number
  maxBytes: number
}

/** Splits a fetch. Records that may have ended the last process run alone. */
export function planChunks(
  records: readonly RawRecord[],
  suspects: Suspects | null,
  limits: ChunkLimits,
): Chunk[] {
  const chunks: Chunk[] = []
  let open: RawRecord[] = []
  let openBytes = 0
  const close = () => {
    if (open.length > 0) chunks.push({ records: open, tries: 1 })
    open = []
    openBytes = 0
  }
  for (const record of records) {
    const before = triesBefore(suspects, record.offset)
    const bytes = weightBytes(record)
    if (before > 0 || open.length >= limits.maxRecords || openBytes + bytes > limits.maxBytes) close()
    if (before > 0) chunks.push({ records: [record], tries: before + 1 })
    else {
      open.push(record)
      openBytes += bytes
    }
  }
  close()
  return chunks
}

/** The record was begun MAX_TRIES times and never ended. */
export function isCrashed(chunk: Chunk): boolean {
  return chunk.tries > MAX_TRIES
}
