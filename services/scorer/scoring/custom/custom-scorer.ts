import type { OwaspCategory, Severity } from '#schemas/verdicts.ts'
import type { Evidence } from '../call-text.ts'
import type { ScorerEntry } from './scorer-entry.ts'
import type { MatchTarget, Searchable } from './searchable.ts'

/** One entry of scorers.yaml, ready to match. */
export interface CustomScorer {
  /** What it was made of. */
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
  /** The first hits of each keyword or pattern in one text; `kind` says which, by its number in the list (`keyword 3`). */
  find(text: Searchable): Omit<Evidence, 'part' | 'pointer'>[]
}
