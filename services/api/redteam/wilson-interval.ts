/** The normal quantile for 95 %. */
const z = 1.959964

/**
 * The share of `hits` with its 95 % score interval (Wilson, 1927, JASA 22, pp. 209–212), which also holds for
 * small counts and for shares of 0 and 1. Null when nothing was counted.
 */
export function wilsonInterval(
  hits: number,
  total: number,
): { rate: number; low: number; high: number } | null {
  if (total === 0) return null
  const rate = hits / total
  const square = z * z
  const centre = (rate + square / (2 * total)) / (1 + square / total)
  const half =
    (z / (1 + square / total)) * Math.sqrt((rate * (1 - rate)) / total + square / (4 * total * total))
  // At 0 and 1 the bound is exact; rounding would miss it by 1e-17.
  return { rate, low: hits === 0 ? 0 : centre - half, high: hits === total ? 1 : centre + half }
}
