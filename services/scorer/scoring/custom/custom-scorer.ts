import type { OwaspCategory, Severity } from '#schemas/verdicts.ts'
import type { Evidence } from '../call-text.ts'
import type { ScorerEntry } from './scorer-entry.ts'
import type { MatchTarget, Searchable } from './searchable.ts'

/** One entry of scorers.yaml, compiled. */
export interface CustomScorer {
  /** The source entry. */
  entry: ScorerEntry
  name: string
  severity: Severity
  description: string
  owaspCategory: OwaspCategory | null
  matchOn: MatchTarget
  /** Null: every project. */
  projects: ReadonlySet<string> | null
  /** Changes whenever the entry does. */
  version: string
  /** The first matches of each keyword or pattern in a text. `kind` numbers it (`keyword 3`). */
  find(text: Searchable): Omit<Evidence, 'part' | 'pointer'>[]
}
