import type { PlacedString } from './strings-of.ts'

/** Strings that stand in one list, the first of them a single word: it may be a program and what it is called with. */
export interface CommandList<T extends PlacedString> {
  /** What the list is called. */
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
