import type { IdentifierKind } from './identifier.ts'

/** How one kind of number looks, and what proves it. */
export interface DocumentRule {
  kind: IdentifierKind
  /** Global, bounded. Separators may be in it; `accepts` sees the text without them, in upper case. */
  pattern: RegExp
  accepts: (compact: string) => boolean
  /** Words that must stand within 60 characters before it, where the number alone proves little. */
  needs?: RegExp
}
