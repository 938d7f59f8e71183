/** Of a normal distribution, for 95 %. */
const z = 1.959964

/**
 * The share of `hits` with the bounds of its 95 % score interval (E. B. Wilson, Probable inference, the law of succession, and statistical
 * inference, Journal of the American Statistical Association 22, 1927, pp. 209–212), which holds for few repeats and for shares of 0 and 1
 * too. Null where nothing was counted.
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
  // At the ends the bound is the end itself, which rounding would miss by 1e-17.
  return { rate, low: hits === 0 ? 0 : centre - half, high: hits === total ? 1 : centre + half }
}
