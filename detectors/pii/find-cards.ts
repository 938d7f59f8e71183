import { passesLuhn } from './check-digits.ts'
import type { Identifier } from './identifier.ts'
import { findMatches } from '../find-matches.ts'

/** Prefixes and lengths: Visa, Mastercard, American Express, Discover, Diners, JCB, Maestro, UnionPay. */
const cardShapes = [
  /^4(?:\d{12}|\d{15}|\d{18})$/,
  /^(?:5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d{2}|7[01]\d|720)\d{12})$/,
  /^3[47]\d{13}$/,
  /^6(?:011|5\d{2}|4[4-9]\d)\d{12}$/,
  /^3(?:0[0-5]|[68]\d)\d{11}$/,
  /^(?:2131|1800)\d{11}$/,
  /^35\d{14}$/,
  /^(?:50\d\d|5[678]\d\d|6304|6390|67\d\d)\d{8,15}$/,
  /^62\d{14,17}$/,
]
const [minDigits, maxDigits] = [12, 19]
/** Separators of groups: one throughout; typists use two blanks, dots, dashes. */
const separator = String.raw`(?:[ \-._*·\u2013\u2212]| {2,3}| [\-\u2013] )`
const printed = new RegExp(
  String.raw`(?<![\d.]|\d[-_*·\u2013\u2212])\d{4}(${separator})(?:\d{4}\1\d{4}(?:\1\d{1,7}){0,2}|\d{6}\1\d{4,5})(?!\d|[.\-_*·\u2013\u2212]\d)`,
  'g',
)
const plain = /(?<![\d.]|\d-)\d(?: ?\d){11,40}(?!\d|[.-]\d)/g
/** Store cards, fuel cards and old Maestro ranges: any issuer, if a word says that it is a card. */
const cardWord =
  /\b(?:(?:credit|debit|bank|payment|prepaid|gift|charge) ?cards?|cards? (?:number|no|nr)|carte (?:bancaire|bleue)|kreditkarte|tarjeta)\b[^\n]{0,20}$/i
/** Words for other numbers: one random 16-digit number in thirty looks like a card. */
const otherName =
  /(?:\b|_|[a-z](?=I))(?:ids?|uuid|trace|span|offset|timestamp|ts|seq(?:uence)?|snowflake|nonce|epoch)["']?\s{0,2}[:=#]?\s{0,2}["']?$/i
/** Published test numbers of payment providers, if the text says so. */
const testNumbers = new Set(
  `4242424242424242 4000056655665556 4111111111111111 4012888888881881 4000002500003155 4000000000000002 4000000000009995 5555555555554444
  2223003122003222 5105105105105100 5200828282828210 378282246310005 371449635398431 6011111111111117 6011000990139424 3056930009020004
  36227206271667 3566002020360505 30569309025904 38520000023237 6200000000000005 4222222222222`.split(/\s+/),
)
const saidToBeTest = /\b(?:test(?:s|ing)?|sandbox|dummy|fake|sample|mock)\b/i

/** Payment card numbers: plain, spaced or as printed. Other groups before and after are not part of them. */
export function* findCards(text: string): Generator<Identifier> {
  for (const pattern of [printed, plain]) {
    for (const match of findMatches(text, pattern)) {
      const found = cardIn(match[0], text.slice(Math.max(0, match.index - 60), match.index))
      if (found === null) continue
      const start = match.index + found.start
      const end = match.index + found.end
      const around = text.slice(Math.max(0, start - 60), end + 40)
      if (testNumbers.has(digitsOf(text.slice(start, end))) && saidToBeTest.test(around)) continue
      yield { kind: 'payment_card', start, end }
    }
  }
}

/** The card within groups of digits: all of them, or the longest consecutive ones that form a card. */
function cardIn(run: string, before: string): { start: number; end: number } | null {
  const groups = run.matchAll(/\d+/g).toArray()
  const at = (first: number, last: number) => {
    const start = groups[first]?.index ?? 0
    return { start, end: (groups[last]?.index ?? 0) + (groups[last]?.[0].length ?? 0) }
  }
  const whole = at(0, groups.length - 1)
  if (isCard(run, before)) return whole
  if (groups.length > maxGroups) return null
  for (let first = 0; first < groups.length; first++) {
    for (let last = groups.length - 1; last >= first; last--) {
      const part = at(first, last)
      const isPrinted = layouts.has(
        groups
          .slice(first, last + 1)
          .map(([group]) => group.length)
          .join(),
      )
      if (isPrinted && isCard(run.slice(part.start, part.end), before + run.slice(0, part.start))) return part
    }
  }
  return null
}
/** Single digits and tables are checked only as a whole. */
const maxGroups = 8
/** Layouts allowed for a part of a run; without them chance finds a card in every table. */
const layouts = new Set(['4,4,4,4', '4,6,5', '4,6,4', '4,4,4,4,3', '16', '15'])

function isCard(written: string, before: string): boolean {
  const digits = digitsOf(written)
  if (digits.length < minDigits || digits.length > maxDigits || !passesLuhn(digits)) return false
  if (/^(\d)\1*$/.test(digits) || countsUp(digits) || countsUp(written)) return false
  if (cardWord.test(before)) return true
  return cardShapes.some((shape) => shape.test(digits)) && !(digits === written && otherName.test(before))
}

/** `4567890123456789` in tests, `4 5 6 7 8 9 10 11` in tables: each digit or group follows the last. */
function countsUp(written: string): boolean {
  const groups = /\D/.test(written) ? written.split(/\D+/) : Array.from(written)
  const follows = (one: string, next: string | undefined) =>
    next !== undefined && (Number(next) - Number(one) + 10) % 10 === 1 && next.length <= one.length + 1
  const inOrder = groups.filter((group, index) => follows(group, groups[index + 1])).length
  return inOrder >= 7 && inOrder >= (groups.length - 1) * 0.75
}

function digitsOf(written: string): string {
  return written.replace(/\D/g, '')
}
