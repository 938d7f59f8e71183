import { fieldAt, textOf } from '../../capture/json.ts'
import { createStreamReader } from '../../capture/streams/assemble-stream.ts'
import { beginningOf } from './beginning-of.ts'
import { createPlainWalk, cutShort, maxTextLength, takeValue, type TakenValue } from './plain-value.ts'

/** Of a generator; it may yield for ever. */
const maxYields = 1_000

/**
 * What a generator yields. Texts one after the other are one text: models speak in pieces, and a word that stands in two of them no scorer reads.
 * Chunks of a provider's stream and nothing else are the message that they amount to.
 */
export interface PlainYields {
  add(value: unknown): void
  /** A list of them. */
  taken(): TakenValue
}

export function createPlainYields(ofClient = false): PlainYields {
  const { plain, isCut } = createPlainWalk()
  const kept: unknown[] = []
  let text = ''
  let textLength = 0
  let more = 0
  let isTextCut = false
  let chunks: ChunkReader | undefined = createChunkReader(ofClient)

  const keep = (value: unknown) => {
    if (kept.length < maxYields) kept.push(value)
    else more++
  }
  const endText = () => {
    if (textLength === 0) return
    const said = plain(text)
    // Halves of a character may come apart.
    const whole = text.replace(/[\ud800-\udbff]$/, '')
    const isCutHere = said === text && textLength > text.length
    isTextCut ||= isCutHere
    keep(isCutHere ? cutShort(whole, textLength) : said)
    text = ''
    textLength = 0
  }

  return {
    add(value) {
      if (chunks?.add(value) !== true) chunks = undefined
      if (typeof value === 'string') {
        if (text.length === textLength) text += beginningOf(value, maxTextLength - text.length)
        textLength += value.length
      } else {
        endText()
        keep(kept.length < maxYields ? plain(value) : undefined)
      }
    },
    taken() {
      const message = chunks?.message()
      if (message !== undefined) {
        const { value, isCut: isMessageCut } = takeValue(message.body)
        return { value: [value], isCut: isMessageCut || message.isCut }
      }
      endText()
      if (more === 0) return { value: kept, isCut: isTextCut || isCut() }
      return { value: [...kept, `[${more} more]`], isCut: true }
    },
  }
}

/** A chunk of OpenAI's kind, Anthropic's, or Google's: programs pass them on in generators of their own. */
function isChunk(value: unknown): boolean {
  const isOfChoices = ['choices', 'candidates'].some((name) => Array.isArray(fieldAt(value, name)))
  return isOfChoices || eventType.test(textOf(fieldAt(value, 'type')) ?? '')
}

const eventType = /^(?:message|content_block)_(?:start|delta|stop)$|^response\./

/** The text of chunks is some ten times that of their message; a stream may go on for ever. */
const maxChunksLength = 32 * 2 ** 20

interface ChunkReader {
  /** Whether it could be taken. */
  add(chunk: unknown): boolean
  /** Undefined: they are of no stream that is known. */
  message(): { body: unknown; isCut: boolean } | undefined
}

/** Reads chunks as JSON, and so leaves the program's own alone; of whatever kind where a provider's client yields them. */
function createChunkReader(ofClient: boolean): ChunkReader {
  const reader = createStreamReader()
  let length = 0
  return {
    add(chunk) {
      try {
        if (!ofClient && !isChunk(chunk)) return false
        const json = JSON.stringify(chunk)
        length += json.length
        if (length <= maxChunksLength) reader.add(json)
        return true
      } catch {
        // No JSON, nested deeper than the stack, or throwing when it is read: as all else that is yielded.
        return false
      }
    },
    message() {
      const assembled = reader.assembled()
      return assembled && { body: assembled.body, isCut: length > maxChunksLength }
    },
  }
}
