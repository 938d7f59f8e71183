const runWords = 8

/**
 * Tells which share of a text's runs of eight words stands in one of the given texts: people pass jailbreaks on with a word changed, so that a
 * text of one half may stand in the other almost whole. 0 for a text that is shorter than that and not among them.
 */
export function createCopyFinder(texts: readonly string[]): (text: string) => number {
  const known = new Set(texts.flatMap(runsOf))
  return (text) => {
    const runs = runsOf(text)
    return runs.filter((run) => known.has(run)).length / Math.max(1, runs.length)
  }
}

/** The words of a text, without case and what stands between them. */
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
