const none: readonly RegExpExecArray[] = []

/**
 * The first `max` matches of the global `pattern`. `text.matchAll(pattern)` copies the pattern and makes an
 * iterator: 0.5 µs against 0.2 µs without a match, for some 300 patterns per text.
 */
export function findMatches(text: string, pattern: RegExp, max = Infinity): readonly RegExpExecArray[] {
  pattern.lastIndex = 0
  let match = pattern.exec(text)
  if (match === null) return none
  const found: RegExpExecArray[] = []
  while (match !== null && found.length < max) {
    found.push(match)
    if (match[0] === '') throw new Error(`pattern matches the empty string: ${pattern.source}`)
    match = pattern.exec(text)
  }
  return found
}
