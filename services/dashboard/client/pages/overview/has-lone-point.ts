/** Whether a value stands between two that are missing: no line leads to it, so that without a dot it is not to be seen. */
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
