import { passesIban } from './check-digits.ts'
import { inWords } from './field-name.ts'
import { findCards } from './find-cards.ts'
import type { Identifier } from './identifier.ts'
import type { DocumentRule } from './document-rule.ts'
import { nationalIdRules } from './national-ids.ts'
import { findMatches } from '../find-matches.ts'

const rules: readonly DocumentRule[] = [
  {
    kind: 'iban',
    pattern: /(?:(?<![A-Za-z0-9])|(?<=\biban))[A-Z]{2}\d{2}[A-Z0-9]{11,30}(?![A-Z0-9])/gi,
    accepts: passesIban,
  },
  // As printed: groups of four, the last may be shorter.
  {
    kind: 'iban',
    pattern: /(?<![A-Z0-9])[A-Z]{2}\d{2}(?:[ -][A-Z0-9]{4}){2,7}(?:[ -][A-Z0-9]{1,3})?(?![A-Z0-9])/gi,
    accepts: passesIban,
  },
  {
    kind: 'driver_licence',
    pattern: /\b(?=[A-Z0-9-]{0,19}\d{4})[A-Z0-9](?:-?[A-Z0-9]){5,18}\b/gi,
    accepts: () => true,
    word: /licen[cs]e|driver|permis|führerschein/i,
    needs:
      /\b(?:driv(?:er|ing)(?:['’]?s)? ?|dl |d\.l\. )licen[cs]e\b|\bdriver['’]?s? id\b|\bpermis de conduire\b|führerschein/i,
  },
  {
    kind: 'passport',
    pattern: /\b(?=[A-Z0-9]{0,4}\d{4})[A-Z0-9]{6,9}\b/gi,
    accepts: () => true,
    word: /pass(?:e|a)?port|reisepass|pasaporte/i,
    needs:
      /(?:passport|reisepass|passeport|pasaporte|passaporto)(?: ?(?:number|no\.?|num|n[°º]|nr\.?|n[uú]mero))?(?: is| es| ist)?["'\s:#=]{0,5}$/i,
  },
]

/** Minimum of all rules; most texts lack even this, and there are some eighty rules. */
const digitsTogether = /\d\D{0,4}\d\D{0,4}\d\D{0,4}\d/

const allRules = [...rules, ...nationalIdRules]

/** Numbers of cards, accounts and documents. Without a proving checksum, the name must stand beside it. */
export function* findDocuments(text: string): Generator<Identifier> {
  if (!digitsTogether.test(text)) return
  yield* findCards(text)
  for (const rule of allRules) {
    if (rule.word?.test(text) === false) continue
    for (const match of findMatches(text, rule.pattern)) {
      const before = text.slice(Math.max(0, match.index - 60), match.index)
      if (rule.needs !== undefined && !rule.needs.test(before) && !rule.needs.test(inWords(before))) continue
      if (!rule.accepts(match[0].replace(/[ .-]/g, '').toUpperCase())) continue
      yield { kind: rule.kind, start: match.index, end: match.index + match[0].length }
    }
  }
}
