interface Word {
  pointer: string
  text: string
}

/** Strings that stand in one list, the first of them a single word: it may be a program and what it is called with. */
export interface CommandList<T extends Word> {
  /** Of the list. */
  pointer: string
  words: [T, ...T[]]
}

const mostWords = 200

export function commandListsOf<T extends Word>(strings: readonly T[]): CommandList<T>[] {
  const lists = new Map<string, CommandList<T>>()
  for (const string of strings) {
    const pointer = /^(.*)\/\d+$/.exec(string.pointer)?.[1]
    if (pointer === undefined) continue
    const known = lists.get(pointer)
    if (known === undefined) lists.set(pointer, { pointer, words: [string] })
    else if (known.words.length < mostWords) known.words.push(string)
  }
  return Array.from(lists.values()).filter(
    ({ words: [first, ...rest] }) => rest.length > 0 && /^\S{1,100}$/.test(first.text),
  )
}
