/** Picodollars in a dollar. Prices have up to eleven decimals, so sums of them stay whole. */
const perDollar = 1e12
/** Beyond these dollars a number does not hold single picodollars. */
const exactDollars = 4_096

/** A sum of money as the whole picodollars that are nearest. */
export function picodollarsOf(dollars: number): bigint {
  if (dollars < exactDollars) return BigInt(Math.round(dollars * perDollar))
  const whole = Math.floor(dollars)
  return BigInt(whole) * BigInt(perDollar) + BigInt(Math.round((dollars - whole) * perDollar))
}

export function dollarsOf(picodollars: bigint): number {
  const whole = picodollars / BigInt(perDollar)
  return Number(whole) + Number(picodollars % BigInt(perDollar)) / perDollar
}

/** The first day of the calendar month in UTC: `2026-11-01`. */
export function monthOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 7)}-01`
}
