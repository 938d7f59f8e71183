import type { OnDefect } from '../../capture/record/raw-answer.ts'
import { beginningOf } from './beginning-of.ts'
import { createPlainWalk, cutShort, maxTextLength, type TakenValue } from './plain-value.ts'
import { createChunkReader, type ChunkReader } from './read-chunks.ts'

/** Of a generator; it may yield for ever. */
const maxYields = 1_000

/**
 * What a generator yields. Texts one after the other are one text: models speak in pieces, and a word that stands in two of them no scorer reads.
 * Chunks of providers' streams and nothing else are the messages that they amount to; listed as they came where `onDefect` was told, which nobody can call
 * harmless.
 */
export interface PlainYields {
  add(value: unknown): void
  /** A list of them. */
  taken(): TakenValue
}

export function createPlainYields(onDefect: OnDefect, ofClient = false): PlainYields {
  const { plain, isCut } = createPlainWalk()
  const kept: unknown[] = []
  let text = ''
  let textLength = 0
  let more = 0
  let isTextCut = false
  let isUnread = false
  let chunks: ChunkReader | undefined = createChunkReader(ofClient, (error) => {
    isUnread = true
    onDefect(error)
  })

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
      const messages = chunks?.messages()
      if (messages !== undefined) {
        const walk = createPlainWalk()
        const value = messages.bodies.map(walk.plain)
        return { value, isCut: messages.isCut || walk.isCut() }
      }
      endText()
      if (more === 0) return { value: kept, isCut: isTextCut || isUnread || isCut() }
      return { value: [...kept, `[${more} more]`], isCut: true }
    },
  }
}
