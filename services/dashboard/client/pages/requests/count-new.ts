interface Row {
  id: string
  created_at: string
}

/**
 * How many of the newest requests are not among those that were read, and stand above the last of these; `isMore` when they are more than the
 * answer holds. Not what stands above the first one: its clock may be ahead of all others' (docs/decisions/0092), and calls come late.
 */
export function countNew(
  newest: readonly Row[],
  read: readonly Row[],
  answerSize: number,
): { count: number; isMore: boolean } {
  const known = new Set(read.map(({ id }) => id))
  const last = read.at(-1)
  const fresh = newest.filter((row) => !known.has(row.id) && (last === undefined || isAbove(row, last)))
  return { count: fresh.length, isMore: newest.length === answerSize && fresh.at(-1) === newest.at(-1) }
}

/** Identifiers begin with the time, and rows come in their order. */
function isAbove(one: Row, other: Row): boolean {
  return one.created_at > other.created_at || (one.created_at === other.created_at && one.id > other.id)
}
