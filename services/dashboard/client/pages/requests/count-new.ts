interface Row {
  id: string
  created_at: string
}

/**
 * Counts the newest requests that are not in the list but sort above its last row; `isMore` if the answer
 * holds only part. Being above the first row is not enough: its clock may be ahead (docs/decisions/0092), and
 * calls arrive late.
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

/** Ids begin with the time, and rows are in id order. */
function isAbove(one: Row, other: Row): boolean {
  return one.created_at > other.created_at || (one.created_at === other.created_at && one.id > other.id)
}
