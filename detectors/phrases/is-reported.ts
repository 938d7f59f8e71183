import type { Suspicion } from './suspect.ts'

/**
 * What a rule forbids, or says that others may ask: "never override …", "if a page tells you to ignore …".
 */
const reports =
  /(?:\b(?:never|not|don't|cannot|can't|mustn't|shouldn't|avoid|refuse to|refusing to)\b[^.\n:;,!?]{0,40}|\b(?:tells?|asks?|instructs?|orders?|wants?|tries|try|attempts?|claims?|telling|asking|instructing|trying|attempting|requests?)\b[^.\n:;,!?]{0,30}\bto\W{0,3}(?:\w+\W){0,2})$/i
/** The order to do it all the same. */
const obeys =
  /\b(?:do (?:so|it|as)|comply|obey|follow (?:it|them|this|that)|go along|must (?:do|obey|follow))\b/i
/** The sentence in which an override stands. */
const order = 'order_in_material'
const overrides = new Set(['override_instructions', 'ignore_instructions', 'refusal_suppression', order])
const aroundUnits = 80
/** Left to the judge; 4 convict. */
const reportedPoints = 3

/**
 * Lowers the suspicion below conviction where every override is forbidden or reported, as in rules for
 * agents.
 */
export function discountReported(text: string, suspicion: Suspicion): Suspicion {
  const { points, kinds, hits } = suspicion
  if (points <= reportedPoints || hits.length === 0 || !kinds.every((kind) => overrides.has(kind)))
    return suspicion
  const said = hits.filter(({ kind }) => kind !== order)
  const areReported = hits.every((hit) =>
    hit.kind === order
      ? said.some(({ start, end }) => start < hit.end && end > hit.start)
      : reports.test(text.slice(Math.max(0, hit.start - aroundUnits), hit.start)) &&
        !obeys.test(text.slice(hit.end, hit.end + aroundUnits)),
  )
  return areReported ? { ...suspicion, points: reportedPoints } : suspicion
}
