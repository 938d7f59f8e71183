import { remember, rewriteText, type FoldedText } from '../fold-characters.ts'

/** Escapes of JSON, URLs, HTML; other digits, letters, spaces and hyphens; invisible characters. */
const disguises =
  /\\(?:u[0-9a-fA-F]{4}|x[2-7][0-9a-fA-F]|["\\/bfnrt])|%[2-7][0-9a-fA-F]|&(?:#\d{2,5}|#x[0-9a-fA-F]{2,4}|nbsp|commat|period|plus|hyphen);|(?![0-9])\p{Nd}|[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]|[\u00a0\u2000-\u200a\u202f\u205f\u3000\u2010-\u2013\u2212\u2460-\u2468\u24ea\ufe6b\uff01-\uff5e]/gu

/** All other disguises are non-ASCII, and most texts are ASCII. */
const mayHaveDisguise = /[\\%&]|[^\0-\x7f]/

/** The text as a reader understands it, with identifiers in their usual form. Null if nothing changes. */
export function undisguise(text: string): FoldedText | null {
  return !mayHaveDisguise.test(text) || text.search(disguises) === -1
    ? null
    : rewriteText(text, disguises, plainOf)
}

const named: Readonly<Record<string, string>> = {
  nbsp: ' ',
  commat: '@',
  period: '.',
  plus: '+',
  hyphen: '-',
}

const plainOf = remember((disguise) => {
  if (/^\\[ux]/.test(disguise)) return fromHex(disguise.slice(2))
  if (disguise.startsWith('\\')) return /["\\/]$/.test(disguise) ? disguise.slice(1) : '\n'
  if (disguise.startsWith('%')) return fromHex(disguise.slice(1))
  if (disguise.startsWith('&#x')) return fromHex(disguise.slice(3, -1))
  if (disguise.startsWith('&#')) return String.fromCharCode(Number(disguise.slice(2, -1)))
  if (disguise.startsWith('&')) return named[disguise.slice(1, -1)] ?? disguise
  if (/\p{Nd}/u.test(disguise)) return digitOf(disguise.codePointAt(0) ?? 0)
  if (/[\u2010-\u2013\u2212]/.test(disguise)) return '-'
  return /\p{Cf}/u.test(disguise) ? '' : disguise.normalize('NFKC')
})

function fromHex(digits: string): string {
  return String.fromCharCode(parseInt(digits, 16))
}

/** Unicode's decimal digits are in blocks of ten, starting at 0. */
function digitOf(codePoint: number): string {
  let zero = codePoint
  while (codePoint - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1
  return String(codePoint - zero)
}
