const runWords = 8

/**
 * Returns the share of a text's runs of eight words that occur in the given texts. Jailbreaks are passed on
 * with small changes, so one half may hold nearly all of a text of the other. 0 for a shorter text that is
 * not among them.
 */
export function createCopyFinder(texts: readonly string[]): (text: string) => number {
  const known = new Set(texts.flatMap(runsOf))
  return (text) => {
    const runs = runsOf(text)
    return runs.filter((run) => known.has(run)).length / Math.max(1, runs.length)
  }
}

/** The words of a text, without case and punctuation. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

function runsOf(text: string): string[] {
  const words = wordsOf(text)
  const count = Math.max(1, words.length - runWords + 1)
  return words.length === 0
    ? []
    : Array.from({ length: count }, (_unused, at) => words.slice(at, at + runWords).join(' '))
}
