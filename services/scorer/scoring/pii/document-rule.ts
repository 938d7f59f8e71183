import type { IdentifierKind } from './identifier.ts'

/** How one kind of number looks, and what proves it. */
export interface DocumentRule {
  kind: IdentifierKind
  /** Global, bounded. Separators may be in it; `accepts` sees the text without them, in upper case. */
  pattern: RegExp
  accepts: (compact: string) => boolean
  /** Words that must stand within 60 characters before it, where the number alone proves little. See `named` where it proves nothing. */
  needs?: RegExp
}

/** Words and signs that may stand between a number and its name: "DNI nº: 12345678", "CPR-nummer er 070761-4285". */
const links =
  'nif|numbers?|num|n[uú]mero|num[eé]ro|nummer|nr|no|n[°ºo]|id|code|card|is|es|ist|er|är|est|was|de|del|la|ciudadan[ií]a|identidad|identit(?:y|é)|extranjer[ií]a|серия|номер|гражданина|рф|россии'
const signs = String.raw`[\s.,:;#№=°"'’\\()<>|/-]{0,5}`

/**
 * What has no check digit is what its name directly before it says: further away "DNI" may be a library with a version, "NIN" a band and "CPR" a
 * training with an invoice.
 */
export function named(names: string): RegExp {
  return new RegExp(
    String.raw`(?<![\p{L}\p{N}])(?:${names})(?:${signs}(?<!\p{L})(?:${links})(?!\p{L})){0,3}${signs}$`,
    'iu',
  )
}
