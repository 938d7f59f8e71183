import type { CallVerdict } from '#schemas/call-reading.ts'
import type { UnscoredClass } from '#schemas/unscored.ts'

/** A call's verdict in plain words. */
export const verdictWords: Readonly<Record<CallVerdict, string>> = {
  unsafe: 'Unsafe',
  no_finding: 'No finding',
  partly_read: 'Partly read',
  not_read: 'Not read',
}

/** What a class of unscored scores means, for its heading. */
export const classWords: Readonly<Record<UnscoredClass, string>> = {
  not_read: 'Not read',
  outside: 'Language or kind not covered',
  undecided: 'Looked at, nothing found',
  not_applicable: 'Nothing to judge in this call',
}

/** What the API says of a call's scores together. */
export interface ShownReading {
  verdict: CallVerdict | null
  coverage: { decided: number; applicable: number } | null
  unread_scorers: readonly string[]
}

/** `7 of 9 scorers decided`; undefined while there is no verdict. */
function describeCoverage({ coverage }: Pick<ShownReading, 'coverage'>): string | undefined {
  if (coverage === null) return undefined
  const { decided, applicable } = coverage
  if (applicable === 0) return 'no scorer applies'
  return `${decided} of ${applicable} ${applicable === 1 ? 'scorer' : 'scorers'} decided`
}

/** `No finding · 7 of 9 scorers decided`, with the scorers that did not read the call. */
export function describeReading({ verdict, coverage, unread_scorers }: ShownReading): string | undefined {
  if (verdict === null) return undefined
  const parts = [verdictWords[verdict], describeCoverage({ coverage })]
  const unread = unread_scorers.length === 0 ? undefined : `not read by ${unread_scorers.join(', ')}`
  return [...parts, unread].filter((part) => part !== undefined).join(' · ')
}
