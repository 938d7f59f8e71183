/** The declared fields that differ from what is stored; undefined ones are not declared. */
export function changedFields<T extends object>(
  stored: object,
  declared: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const old = stored as Readonly<Record<string, unknown>>
  const changed = Object.entries(declared).filter(
    ([name, value]) => value !== undefined && comparable(value) !== comparable(old[name] ?? null),
  )
  return Object.fromEntries(changed) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

/** Without the order of keys and of lists, which Postgres or a person may change. */
function comparable(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (Array.isArray(part)) return part.map(comparable).toSorted()
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  })
}
