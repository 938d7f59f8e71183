/** Whether something is new to it; from then on it is not. */
export type Remembered = (text: string) => boolean

/** Remembers the latest `least` at least, twice as many at most. */
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
