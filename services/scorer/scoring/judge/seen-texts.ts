/**
 * Longer texts are not indexed unless this much is shown; the result says so. A hostile megabyte of short
 * lines takes 0.5 s.
 */
const maxUnits = 500_000
/** Budget for searching within lines, in units. Long texts cost more: hostile ones have near matches. */
const maxLooks = 10_000_000
const unitsOfLook = 64

/** The texts shown, and whether another is contained in them. */
export interface SeenTexts {
  has(text: string): boolean
  /** Too many to index. */
  isFull(): boolean
  add(text: string): void
}

/**
 * Indexes texts by line, since strings read from a body are joined by line breaks: each text costs its own
 * length. Parts of lines (such as a sentence that a source supports) are searched within a budget. Beyond it
 * a text counts as not seen.
 */
export function seenTexts(shown: readonly string[], limit: number): SeenTexts {
  const max = Math.max(maxUnits, limit)
  const whole = [...shown]
  const lines = new Set<string>()
  let units = 0
  let looks = maxLooks
  const note = (text: string) => {
    units += text.length
    if (units <= max) for (const line of linesOf(text)) lines.add(line)
  }
  const standsWithin = (text: string) => {
    looks -= units * (1 + text.length / unitsOfLook)
    return looks > 0 && whole.some((candidate) => candidate.includes(text))
  }
  whole.forEach(note)
  return {
    has: (text) => units <= max && (linesOf(text).every((line) => lines.has(line)) || standsWithin(text)),
    isFull: () => units > max,
    add(text) {
      whole.push(text)
      note(text)
    },
  }
}

/** Non-empty lines, one at a time: a list of five million would exceed the text. */
function* linesOf(text: string): Generator<string> {
  for (let from = 0; from <= text.length;) {
    const at = text.indexOf('\n', from)
    const line = text.slice(from, at === -1 ? text.length : at)
    if (/\S/.test(line)) yield line
    from = at === -1 ? text.length + 1 : at + 1
  }
}
