import {
  passesAustralianTaxNumber,
  passesBsn,
  passesChineseId,
  passesCodiceFiscale,
  passesCpf,
  passesCurp,
  passesDni,
  passesEan,
  passesGermanTaxId,
  passesKoreanId,
  passesLuhn,
  passesMyNumber,
  passesNir,
  passesPesel,
  passesSnils,
  passesTurkishId,
  passesVerhoeff,
} from './check-digits.ts'
import { passesNhs } from './checks-by-eleven.ts'
import type { DocumentRule } from './document-rule.ts'
import { furtherIdRules } from './further-ids.ts'
import { furtherNumberRules } from './health-and-tax-ids.ts'

/** Identifiers of the most populous countries. Without a proving checksum, the name must stand by it. */
export const nationalIdRules: readonly DocumentRule[] = [
  // United States: areas 000, 666 and 900–999 are never issued; without hyphens it needs its name.
  {
    kind: 'national_id',
    pattern: /(?<![\d-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])/g,
    accepts: () => true,
  },
  {
    kind: 'national_id',
    pattern: /(?<![\d-])(?!000|666|9)\d{3}([ .]?)(?!00)\d{2}\1(?!0000)\d{4}(?![\d-])/g,
    accepts: () => true,
    needs: /\b(?:ssn|soc(?:ial)? sec(?:urity)?)\b/i,
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
  {
    kind: 'national_id',
    pattern: /(?<!\d)\d{3}[ .]?\d{3}[ .]?\d{3}[ -]?\d{2}(?!\d)/g,
    accepts: passesCpf,
    needs: /\bcpf\b/i,
  },
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
  // Germany, Poland, the Netherlands, Canada: short, and one in ten passes the checksum.
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
  // Mexico, Japan, South Korea, Russia, Turkey, South Africa, Australia, Pakistan, Switzerland, Sweden
  {
    kind: 'national_id',
    pattern: /\b[A-Z]{4}\d{6}[HMX][A-Z]{5}[A-Z\d]\d\b/g,
    accepts: passesCurp,
  },
  {
    kind: 'national_id',
    pattern: /(?<!\d)\d{4}[ -]?\d{4}[ -]?\d{4}(?!\d)/g,
    accepts: passesMyNumber,
    needs: /my ?number|マイナンバー|個人番号/i,
  },
  // Numbers issued since October 2020 have no checksum, so they need their name.
  {
    kind: 'national_id',
    pattern: /(?<!\d)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-[1-8]\d{6}(?!\d)/g,
    accepts: passesKoreanId,
  },
  {
    kind: 'national_id',
    pattern: /(?<!\d)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-?[1-8]\d{6}(?!\d)/g,
    accepts: () => true,
    needs: /주민|\b(?:rrn|resident registration)\b/i,
  },
  { kind: 'national_id', pattern: /(?<!\d)\d{3}-\d{3}-\d{3} \d{2}(?!\d)/g, accepts: passesSnils },
  {
    kind: 'national_id',
    pattern: /(?<!\d)[1-9]\d{10}(?!\d)/g,
    accepts: passesTurkishId,
    needs: /\b(?:tckn|t\.?c\.? ?kimlik|kimlik (?:no|numara))/i,
  },
  {
    kind: 'national_id',
    pattern: /(?<!\d)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]) ?\d{4} ?[01]\d{2}(?!\d)/g,
    accepts: passesLuhn,
    needs: /\b(?:south african|sa|rsa|identity|id) ?(?:id|number|no\b|nr)|\bid\b/i,
  },
  {
    kind: 'national_id',
    pattern: /(?<!\d)\d{3} ?\d{3} ?\d{3}(?!\d)/g,
    accepts: passesAustralianTaxNumber,
    needs: /\b(?:tfn|tax file)\b/i,
  },
  {
    kind: 'national_id',
    pattern: /(?<!\d)[1-7]\d{4}-\d{7}-\d(?!\d)/g,
    accepts: () => true,
    needs: /\b(?:cnic|nadra|identity card|national id)/i,
  },
  { kind: 'national_id', pattern: /(?<!\d)756\.\d{4}\.\d{4}\.\d{2}(?!\d)/g, accepts: passesEan },
  {
    kind: 'national_id',
    pattern: /(?<!\d)(?:19|20)?\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[-+]\d{4}(?!\d)/g,
    accepts: (digits) => passesLuhn(digits.replace(/\D/g, '').slice(-10)),
    needs: /person(?:nummer|al identity)|\bpnr\b/i,
  },
  ...furtherIdRules,
  ...furtherNumberRules,
]
