import type { OnDefect } from '../../../capture/record/raw-answer.ts'
import { beginningOf } from './beginning-of.ts'
import { createPlainWalk, cutShort, maxTextLength, type Snapshot } from './plain-value.ts'
import { createChunkReader, type ChunkReader } from './read-chunks.ts'

/** Per generator, which may yield forever. */
const maxYields = 1_000

/**
 * The values that a generator yields. Consecutive texts are joined, as scorers would miss a word split over
 * two. If all values are chunks of a provider's stream, they are assembled into messages; after `onDefect`
 * they are listed as they came, and marked as truncated.
 */
export interface PlainYields {
  add(value: unknown): void
  /** All values as a list. */
  taken(): Snapshot
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
    // A surrogate pair may be split.
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
