import type { IdentifierKind } from './identifier.ts'

/** The form of one kind of number, and what proves it. */
export interface DocumentRule {
  kind: IdentifierKind
  /** Global, bounded. May match separators; `accepts` gets the match without them, in upper case. */
  pattern: RegExp
  accepts: (compact: string) => boolean
  /**
   * Words required within 60 characters before, if the number proves little. If it proves nothing: `named`.
   */
  needs?: RegExp
  /** In every text where `needs` may match. Given where the pattern is costly: it begins at each word. */
  word?: RegExp
}

/** Words and signs allowed between name and number: "DNI nº: 12345678", "CPR-nummer er 070761-4285". */
const links =
  'nif|numbers?|num|n[uú]mero|num[eé]ro|nummer|nr|no|n[°ºo]|id|code|card|is|es|ist|er|är|est|was|de|del|la|ciudadan[ií]a|identidad|identit(?:y|é)|extranjer[ií]a|серия|номер|гражданина|рф|россии|của|tôi|là|my|his|her|mi|su|meu|mój|mein|meine'
const signs = String.raw`[\s.,:;#№=°"'’\\()<>|/-]{0,5}`

/**
 * Numbers without a check digit need their name directly before. Further away "DNI" may be a software
 * library, "NIN" a band and "CPR" a training course.
 */
export function named(names: string): RegExp {
  return new RegExp(
    String.raw`(?<![\p{L}\p{N}])(?:${names})(?:${signs}(?<!\p{L})(?:${links})(?!\p{L})){0,3}${signs}$`,
    'iu',
  )
}
