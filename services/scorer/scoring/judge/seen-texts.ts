/** Longer ones are not read unless so much is shown: they are cut, and that is said. A hostile megabyte of short lines takes half a second. */
const maxUnits = 500_000
/** What looking for texts within lines may cost: units that are looked through, more for what is long, because a hostile text has matches that nearly are. */
const maxLooks = 10_000_000
const unitsOfLook = 64

/** Texts that are shown, and whether another stands in them. */
export interface SeenTexts {
  has(text: string): boolean
  /** They are so many that nobody knows what is in them. */
  isFull(): boolean
  add(text: string): void
}

/**
 * Knows texts by their lines, because what is read out of a body is joined by line breaks: each text costs its own length, however long all of them
 * are. Parts of lines (an answer's sentence that a source is for) are looked for within a budget; over it a text counts as one that was not seen.
 */
export function seenTexts(shown: readonly string[], limit: number): SeenTexts {
  const most = Math.max(maxUnits, limit)
  const whole = [...shown]
  const lines = new Set<string>()
  let units = 0
  let looks = maxLooks
  const note = (text: string) => {
    units += text.length
    if (units <= most) for (const line of linesOf(text)) lines.add(line)
  }
  const standsWithin = (text: string) => {
    looks -= units * (1 + text.length / unitsOfLook)
    return looks > 0 && whole.some((candidate) => candidate.includes(text))
  }
  whole.forEach(note)
  return {
    has: (text) => units <= most && (linesOf(text).every((line) => lines.has(line)) || standsWithin(text)),
    isFull: () => units > most,
    add(text) {
      whole.push(text)
      note(text)
    },
  }
}

/** Those with something in them, one at a time: a list of five million would be larger than the text. */
function* linesOf(text: string): Generator<string> {
  for (let from = 0; from <= text.length;) {
    const at = text.indexOf('\n', from)
    const line = text.slice(from, at === -1 ? text.length : at)
    if (/\S/.test(line)) yield line
    from = at === -1 ? text.length + 1 : at + 1
  }
}
