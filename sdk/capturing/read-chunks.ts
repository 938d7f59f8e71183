import type { OnDefect } from '../../capture/record/raw-answer.ts'
import { createStreamReader, type StreamReader } from '../../capture/streams/assemble-stream.ts'
import { createStreamStarts } from './stream-starts.ts'

/** The text of chunks is some ten times that of their message; a stream may go on for ever. */
const maxChunksLength = 32 * 2 ** 20
/** Those that one generator passes on. */
const maxStreams = 1_000

export interface ChunkReader {
  /** Whether it could be taken. */
  add(chunk: unknown): boolean
  /** One for each stream. Undefined: of one that is not known. */
  messages(): { bodies: readonly unknown[]; isCut: boolean } | undefined
}

/** Reads chunks as JSON, and so leaves the program's own alone; of whatever kind, and one stream, where a provider's client yields them. */
export function createChunkReader(ofClient: boolean, onDefect: OnDefect): ChunkReader {
  const readers: StreamReader[] = []
  const starts = createStreamStarts()
  let length = 0
  /** The rest is left out: what stands in two pieces would not be found in a list of them either. */
  let isCut = false
  const read = (json: string): boolean => {
    try {
      readers.at(-1)?.add(json)
      return true
    } catch (error) {
      if (!(error instanceof RangeError)) onDefect(error)
      return false
    }
  }
  return {
    add(chunk) {
      try {
        const isStart = ofClient ? readers.length === 0 : starts.isStart(chunk)
        if (isStart === undefined) return false
        const json = JSON.stringify(chunk)
        length += json.length
        isCut ||= length > maxChunksLength || (isStart && readers.length === maxStreams)
        if (isCut) return true
        if (isStart) readers.push(createStreamReader())
        return read(json)
      } catch {
        // No JSON, nested deeper than the stack, or throwing when it is read: as all else that is yielded.
        return false
      }
    },
    messages() {
      try {
        const bodies = readers.flatMap((reader) => reader.assembled()?.body ?? [])
        const isKnown = bodies.length > 0 && bodies.length === readers.length
        return isKnown ? { bodies, isCut } : undefined
      } catch (error) {
        onDefect(error)
        return undefined
      }
    },
  }
}
