import type { PlacedString } from './strings-of.ts'

/** The strings of one list, the first a single word: possibly a program and its arguments. */
export interface CommandList<T extends PlacedString> {
  /** The list's name. */
  name: string
  words: [T, ...T[]]
}

const maxWords = 200

export function commandListsOf<T extends PlacedString>(strings: readonly T[]): CommandList<T>[] {
  const lists = new Map<PlacedString['within'], CommandList<T>>()
  for (const string of strings) {
    const { name, within } = string
    if (within === null || !/^\d+$/.test(name)) continue
    const known = lists.get(within)
    if (known === undefined) lists.set(within, { name: within.name, words: [string] })
    else if (known.words.length < maxWords) known.words.push(string)
  }
  return Array.from(lists.values()).filter(
    ({ words: [first, ...rest] }) => rest.length > 0 && /^\S{1,100}$/.test(first.text),
  )
}
