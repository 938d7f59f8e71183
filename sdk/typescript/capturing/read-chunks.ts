import type { OnDefect } from '../../../capture/record/raw-answer.ts'
import { createStreamReader, type StreamReader } from '../../../capture/streams/assemble-stream.ts'
import { createStreamStarts } from './stream-starts.ts'

/** Chunks are some ten times longer than their message, and a stream may not end. */
const maxChunksLength = 32 * 2 ** 20
/** Per generator. */
const maxStreams = 1_000

export interface ChunkReader {
  /** Returns whether the chunk was accepted. */
  add(chunk: unknown): boolean
  /** One message per stream; undefined for an unknown format. */
  messages(): { bodies: readonly unknown[]; isCut: boolean } | undefined
}

/**
 * Assembles chunks from their JSON, which leaves the program's objects alone. For a provider's client all
 * chunks are one stream.
 */
export function createChunkReader(ofClient: boolean, onDefect: OnDefect): ChunkReader {
  const readers: StreamReader[] = []
  const starts = createStreamStarts()
  let length = 0
  /** The rest is dropped: split text would not be found in a list of chunks either. */
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
        // Not serialisable, nested deeper than the stack, or throwing: recorded like other values.
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
