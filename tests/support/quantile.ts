/** The value below which `share` of the numbers lie; NaN if there are none. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}

export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5)
}
