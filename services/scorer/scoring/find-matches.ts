const none: readonly RegExpExecArray[] = []

/**
 * The first `most` matches of the global `pattern`. Same as `text.matchAll(pattern)`, which copies the
 * pattern and makes an iterator: 0.5 µs against 0.2 µs without a match, and each text is matched against some
 * 300 patterns.
 */
export function findMatches(text: string, pattern: RegExp, most = Infinity): readonly RegExpExecArray[] {
  pattern.lastIndex = 0
  let match = pattern.exec(text)
  if (match === null) return none
  const found: RegExpExecArray[] = []
  while (match !== null && found.length < most) {
    found.push(match)
    if (match[0] === '') throw new Error(`matches nothing: ${pattern.source}`)
    match = pattern.exec(text)
  }
  return found
}
