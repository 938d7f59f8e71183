import { findMatches } from '../find-matches.ts'
import { wordGate } from './word-gate.ts'

/** A date of birth (UTF-16 offsets). `form`: as in a form or a record, "DOB: …". `told`: "was born on …". */
export interface BirthSpan {
  start: number
  end: number
  said: 'form' | 'told'
}

/** A day with month and year, in digits or with the month's name, in either order. */
const date = new RegExp(
  [
    String.raw`(?<![\d./-])(?:(?:19|20)\d{2}[-/.年]\s?\d{1,2}[-/.月]\s?\d{1,2}日?|(?:19|20)\d{2}년 ?\d{1,2}월 ?\d{1,2}일`,
    String.raw`\d{1,2}([-/.])\s?\d{1,2}\1\s?(?:(?:19|20)\d{2}|\d{2})`,
    String.raw`\d{1,2}(?:st|nd|rd|th|er|º|°|\.)?\s(?:de |of )?\p{L}{3,12}\.?,?\s(?:de[l]? )?(?:19|20)\d{2}`,
    String.raw`\p{Lu}\p{Ll}{2,9}\.? \d{1,2}(?:st|nd|rd|th)?,? (?:19|20)\d{2})(?!\d|[./-]\d)`,
  ].join('|'),
  'gu',
)
const formBefore =
  /(?:(?<!\p{L})(?:date[ _]?of[ _]?birth|birth[ _-]?dates?|birthday|bday|d\.?o\.?b|geburtsdatum|geburtstag|geb\.|date de naissance|anniversaire|fecha de nacimiento|cumpleaños|data di nascita|compleanno|data de nascimento|aniversário|geboortedatum|verjaardag|data urodzenia|urodziny|ur\.|doğum tarih(?:i|im|iniz)?|doğum günü|födelsedatum|födelsedag|fødselsdato|syntymäaika|datum narození|születési (?:dátum|idő)|data nașterii|tanggal lahir|ngày sinh|дата рождения|день рождения|дата народження|ημερομηνία γέννησης)(?!\p{L})|出生日期|出生年月|生日|生年月日|誕生日|생년월일|생일|تاريخ الميلاد|تاريخ ميلاد\p{L}{0,3}|תאריך לידה|जन्म तिथि|วันเกิด)[^\n.!?\d]{0,24}$/iu
const toldBefore =
  /(?:(?<!\p{L})(?:born(?: on| in)?|geboren(?: am| op)?|née? le|née?|nac(?:ió|í|ido|ida) el|nac(?:ió|í)|nat[oa] il|nat[oa]|nasc(?:eu|i|ido|ida) em|nasc(?:eu|i)|urodz(?:ony|ona|ił|iła|iłem|iłam)(?: się)?|född(?: den)?|født(?: den)?|narozen[aáý]?|născut[ă]?|lahir|sinh|родил(?:ся|ась)|родилс[яь]|народи(?:вся|лася))(?!\p{L})|出生于|出生|生于|ولدت?|من مواليد)[^\n.!?\d]{0,24}$/iu
const toldAfter =
  /^(?:\s?(?:doğumlu|doğdu|doğmuş|da doğd|de doğd)|['’]?(?:d[ea]|t[ea])? doğ|\s?(?:出生|生まれ|に生まれ|생(?!\p{L})|에? ?태어)|\s?г\. ?р\.)/u
const mayHaveWord = wordGate(
  'birth birthday birthdate bday dob born geburtsdatum geburtstag geboren geboortedatum née naissance anniversaire nacido nacimiento nació cumpleaños nato nata nascita compleanno nasceu nascimento aniversário verjaardag urodzony doğum födelsedatum född født narozen születési născut lahir ngày',
)
const mayTell = (text: string) =>
  mayHaveWord(text) || text.includes('D.O.B.') || text.includes('geb. ') || text.includes('ur. ')
/** A form that is only explained: "DOB (YYYY-MM-DD)", "for example". */
const explained =
  /(?:\be\.?g\.|\bfor (?:example|instance)\b|\bformat\b|\bexample\b|z\. ?B\.|yyyy)[^\n]{0,30}$/i
const maxFound = 200
/** Those born earlier are dead, most of them long. */
const firstYear = 1915

/** Dates beside a word for a birth, in the languages of the lists above. */
export function findBirthDates(text: string): BirthSpan[] {
  if (!mayTell(text)) return []
  return findMatches(text, date, maxFound).flatMap(({ 0: match, index }): BirthSpan[] => {
    const year = Number(/(?:19|20)\d{2}/.exec(match)?.[0] ?? 1950)
    const before = text.slice(Math.max(0, index - 60), index)
    if (year < firstYear || explained.test(before)) return []
    const end = index + match.length
    if (formBefore.test(before)) return [{ start: index, end, said: 'form' }]
    const isTold = toldBefore.test(before) || toldAfter.test(text.slice(end, end + 16))
    return isTold ? [{ start: index, end, said: 'told' }] : []
  })
}
