import {
  passesBsn,
  passesChineseId,
  passesCodiceFiscale,
  passesCpf,
  passesDni,
  passesGermanTaxId,
  passesIban,
  passesLuhn,
  passesNhs,
  passesNir,
  passesPesel,
  passesVerhoeff,
} from './check-digits.ts'
import type { Identifier, IdentifierKind } from './identifier.ts'

interface DocumentRule {
  kind: IdentifierKind
  /** Global, bounded. Separators may be in it; `accepts` sees the text without them, in upper case. */
  pattern: RegExp
  accepts: (compact: string) => boolean
  /** Words that must stand within 60 characters before it, where the number alone proves little. */
  needs?: RegExp
}

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
  // United States: area 000, 666 and 900–999 are never given; without hyphens it needs its name beside it.
  {
    kind: 'national_id',
    pattern: /(?<![\d-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])/g,
    accepts: () => true,
  },
  {
    kind: 'national_id',
    pattern: /(?<![\d-])(?!000|666|9)\d{3} ?(?!00)\d{2} ?(?!0000)\d{4}(?![\d-])/g,
    accepts: () => true,
    needs: /\b(?:ssn|social security)\b/i,
  },
  // United Kingdom
  {
    kind: 'national_id',
    pattern: /\b(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b/g,
    accepts: () => true,
  },
  {
    kind: 'national_id',
    pattern: /(?<!\d)\d{3}[ -]?\d{3}[ -]?\d{4}(?!\d)/g,
    accepts: passesNhs,
    needs: /\bnhs\b/i,
  },
  // Brazil, Spain, Italy, France, China, India
  { kind: 'national_id', pattern: /(?<!\d)\d{3}\.\d{3}\.\d{3}-\d{2}(?!\d)/g, accepts: passesCpf },
  { kind: 'national_id', pattern: /(?<!\d)\d{11}(?!\d)/g, accepts: passesCpf, needs: /\bcpf\b/i },
  { kind: 'national_id', pattern: /\b(?:\d{8}|[XYZ]-?\d{7})-?[A-HJ-NP-TV-Z]\b/g, accepts: passesDni },
  {
    kind: 'national_id',
    pattern: /\b[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]\b/g,
    accepts: passesCodiceFiscale,
  },
  {
    kind: 'national_id',
    pattern: /(?<!\d)[12] ?\d{2} ?(?:0[1-9]|1[0-2]) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}(?!\d)/g,
    accepts: passesNir,
  },
  {
    kind: 'national_id',
    pattern:
      /(?<!\d)[1-8]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dX](?![\dA-Za-z])/g,
    accepts: passesChineseId,
  },
  {
    kind: 'national_id',
    pattern: /(?<!\d)[2-9]\d{3}[ -]?\d{4}[ -]?\d{4}(?!\d)/g,
    accepts: passesVerhoeff,
    needs: /aadhaar|\buid(?:ai)?\b|आधार/i,
  },
  {
    kind: 'national_id',
    pattern: /\b[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z]\b/g,
    accepts: () => true,
    needs: /\bpan\b/i,
  },
  // Germany, Poland, the Netherlands, Canada: short numbers whose checksum one in ten passes.
  {
    kind: 'national_id',
    pattern: /(?<!\d)[1-9]\d(?: ?\d{3}){3}(?!\d)/g,
    accepts: passesGermanTaxId,
    needs: /steuer|\bidnr\b|tax id/i,
  },
  { kind: 'national_id', pattern: /(?<!\d)\d{11}(?!\d)/g, accepts: passesPesel, needs: /\bpesel\b/i },
  {
    kind: 'national_id',
    pattern: /(?<!\d)\d{9}(?!\d)/g,
    accepts: passesBsn,
    needs: /\b(?:bsn|burgerservicenummer|sofi)\b/i,
  },
  {
    kind: 'national_id',
    pattern: /(?<!\d)\d{3}[ -]?\d{3}[ -]?\d{3}(?!\d)/g,
    accepts: passesLuhn,
    needs: /\b(?:sin|social insurance)\b/i,
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
  for (const rule of rules) {
    for (const match of text.matchAll(rule.pattern)) {
      if (rule.needs?.test(text.slice(Math.max(0, match.index - 60), match.index)) === false) continue
      if (!rule.accepts(match[0].replace(/[ .-]/g, '').toUpperCase())) continue
      yield { kind: rule.kind, start: match.index, end: match.index + match[0].length }
    }
  }
}
