import { passesIban, passesLuhn } from './check-digits.ts'
import type { Identifier } from './identifier.ts'
import { nationalIdRules, type DocumentRule } from './national-ids.ts'

/** Issuers' prefixes and lengths: Visa, Mastercard, American Express, Discover, Diners, JCB, Maestro, UnionPay. */
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

const rules: readonly DocumentRule[] = [
  {
    kind: 'payment_card',
    pattern: /(?<![\d.])\d(?:[ -]?\d){11,18}(?![\d]|\.\d)/g,
    accepts: (digits) => cardShapes.some((shape) => shape.test(digits)) && passesLuhn(digits),
  },
  // Store cards, fuel cards and old Maestro ranges: any issuer, where a word says that it is a card.
  {
    kind: 'payment_card',
    pattern: /(?<![\d.])\d(?:[ -]?\d){11,18}(?![\d]|\.\d)/g,
    accepts: (digits) => passesLuhn(digits) && !/^(\d)\1*$/.test(digits),
    needs:
      /\b(?:(?:credit|debit|bank|payment|prepaid|gift|charge) ?cards?|cards? (?:number|no|nr)|carte (?:bancaire|bleue)|kreditkarte|tarjeta)\b[^\n]{0,20}$/i,
  },
  {
    kind: 'iban',
    pattern: /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}[A-Za-z0-9]{11,30}(?![A-Za-z0-9])/g,
    accepts: passesIban,
  },
  // As printed: groups of four, the last may be shorter.
  {
    kind: 'iban',
    pattern: /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ -][A-Z0-9]{4}){2,7}(?:[ -][A-Z0-9]{1,3})?(?![A-Za-z0-9])/g,
    accepts: passesIban,
  },
  {
    kind: 'driver_licence',
    pattern: /\b(?=[A-Z0-9-]{0,19}\d{4})[A-Z0-9](?:-?[A-Z0-9]){5,18}\b/gi,
    accepts: () => true,
    needs: /\b(?:driv(?:er|ing)(?:['’]?s)? ?|dl |d\.l\. )licen[cs]e\b|\bdriver['’]?s? id\b/i,
  },
  {
    kind: 'passport',
    pattern: /\b(?=[A-Z0-9]{0,4}\d{4})[A-Z0-9]{6,9}\b/gi,
    accepts: () => true,
    needs: /passport(?: (?:number|no\.?))?(?: is)?[\s:#]{0,3}$/i,
  },
]

/** Numbers of cards, accounts and papers. What a checksum does not prove needs its name beside it. */
export function* findDocuments(text: string): Generator<Identifier> {
  for (const rule of [...rules, ...nationalIdRules]) {
    for (const match of text.matchAll(rule.pattern)) {
      if (rule.needs?.test(text.slice(Math.max(0, match.index - 60), match.index)) === false) continue
      if (!rule.accepts(match[0].replace(/[ .-]/g, '').toUpperCase())) continue
      yield { kind: rule.kind, start: match.index, end: match.index + match[0].length }
    }
  }
}
