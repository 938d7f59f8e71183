import { remember, rewriteText, type FoldedText } from '../fold-characters.ts'

/** Escapes of JSON in a string, digits and letters in other forms, blanks and hyphens of typesetters, and what nobody sees. */
const disguises =
  /\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])|(?![0-9])\p{Nd}|[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]|[\u00a0\u2000-\u200a\u202f\u205f\u3000\u2010\u2011\uff01-\uff5e]/gu

/** The text as its reader understands it, where identifiers stand as everybody writes them; null where that is the text itself. */
export function undisguise(text: string): FoldedText | null {
  return text.search(disguises) === -1 ? null : rewriteText(text, disguises, plainOf)
}

const plainOf = remember((disguise) => {
  if (disguise.startsWith('\\u')) return String.fromCharCode(parseInt(disguise.slice(2), 16))
  if (disguise.startsWith('\\')) return /["\\/]$/.test(disguise) ? disguise.slice(1) : '\n'
  if (/\p{Nd}/u.test(disguise)) return digitOf(disguise.codePointAt(0) ?? 0)
  if (/[\u2010\u2011]/.test(disguise)) return '-'
  return /\p{Cf}/u.test(disguise) ? '' : disguise.normalize('NFKC')
})

/** Unicode has decimal digits in runs of ten from 0 on. */
function digitOf(codePoint: number): string {
  let zero = codePoint
  while (codePoint - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1
  return String(codePoint - zero)
}
