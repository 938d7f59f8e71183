/** Keeps the last result, for those that ask for the same text one after the other. Bounded by one text. */
export function rememberLast<T>(find: (text: string) => T): (text: string) => T {
  let last: { text: string; found: T } | undefined
  return (text) => {
    if (last?.text !== text) last = { text, found: find(text) }
    return last.found
  }
}
