const none: readonly RegExpExecArray[] = []

/**
 * What `pattern`, which is global, matches in `text`, the first `most`. The same as `text.matchAll(pattern)`, which makes a copy of the pattern and an
 * iterator each time: 0.5 µs instead of 0.2 where nothing matches, and some 300 patterns are held against each text.
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
