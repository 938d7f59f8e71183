/** Returns whether a text is new, and remembers it. */
export type Remembered = (text: string) => boolean

/** Remembers at least the latest `minSize` texts, and at most twice as many. */
export function createRemembered(minSize: number): Remembered {
  let recent = new Set<string>()
  let older = new Set<string>()
  return (text) => {
    if (recent.has(text) || older.has(text)) return false
    if (recent.size >= minSize) {
      older = recent
      recent = new Set()
    }
    recent.add(text)
    return true
  }
}
