/** True if a value stands between two missing ones: without a dot it would be invisible in a line. */
export function hasLonePoint(rows: readonly (readonly (number | null)[])[]): boolean {
  return rows.some((row, at) =>
    row.some(
      (value, series) =>
        value !== null &&
        (rows[at - 1]?.[series] ?? null) === null &&
        (rows[at + 1]?.[series] ?? null) === null,
    ),
  )
}
