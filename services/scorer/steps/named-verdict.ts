import type { OwaspCategory } from '#schemas/verdicts.ts'
import type { Verdict } from '../scoring/verdict.ts'

/** A verdict with its scorer's name. Plain data: it passes between threads. */
export interface NamedVerdict {
  scorer: string
  version: string
  owaspCategory: OwaspCategory | null
  verdict: Verdict
}
