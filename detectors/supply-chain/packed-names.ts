/**
 * A sorted list of names as one string: of each name how many characters it shares with the one before (base
 * 36), and the rest. A third shorter than the names.
 */
export function packNames(names: readonly string[]): string {
  let before = ''
  return [...new Set(names)]
    .sort((one, other) => (one < other ? -1 : 1))
    .map((name) => {
      let shared = 0
      while (shared < 35 && shared < name.length && name[shared] === before[shared]) shared += 1
      before = name
      return shared.toString(36) + name.slice(shared)
    })
    .join(' ')
}

export function unpackNames(packed: string): Set<string> {
  let before = ''
  return new Set(
    packed.split(' ').map((entry) => {
      before = before.slice(0, parseInt(entry.charAt(0), 36)) + entry.slice(1)
      return before
    }),
  )
}
