import { beginningOf } from './beginning-of.ts'
import { createPlainWalk, cutShort, maxTextLength } from './plain-value.ts'

/** Of a generator; it may yield for ever. */
const maxYields = 1_000

/** What a generator yields. Texts one after the other are one text: models speak in pieces, and a word that stands in two of them no scorer reads. */
export interface PlainYields {
  add(value: unknown): void
  list(): unknown[]
}

export function createPlainYields(): PlainYields {
  const plain = createPlainWalk()
  const kept: unknown[] = []
  let text = ''
  let textLength = 0
  let more = 0

  const keep = (value: unknown) => {
    if (kept.length < maxYields) kept.push(value)
    else more++
  }
  const endText = () => {
    if (textLength === 0) return
    const said = plain(text)
    // Halves of a character may come apart.
    const whole = text.replace(/[\ud800-\udbff]$/, '')
    keep(said === text && textLength > text.length ? cutShort(whole, textLength) : said)
    text = ''
    textLength = 0
  }

  return {
    add(value) {
      if (typeof value === 'string') {
        if (text.length === textLength) text += beginningOf(value, maxTextLength - text.length)
        textLength += value.length
      } else {
        endText()
        keep(kept.length < maxYields ? plain(value) : undefined)
      }
    },
    list() {
      endText()
      return more === 0 ? kept : [...kept, `[${more} more]`]
    },
  }
}
