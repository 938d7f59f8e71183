import type { Identifier } from './identifier.ts'
import { findAddresses, type AddressSpan } from './find-addresses.ts'
import { findBirthDates } from './find-birth-dates.ts'
import { findNames } from './find-names.ts'
import { somebody } from './person-signs.ts'
import { rememberLast } from '../remember-last.ts'

/** An address or a date of birth. `isTied`: the text says to which person it belongs. */
export interface PersonalDatum extends Identifier {
  isTied: boolean
}

/** Distance within which a name and an address belong together. */
const reach = 240

/**
 * Addresses and dates of birth. One belongs to a person if it is said to be a home, or if a name or a word
 * for a person stands near it: neither a name alone nor the address of a shop is a finding. Remembered: read
 * for the findings, and for what is left to a reader.
 */
export const findPersonalData = rememberLast(findIn)

function findIn(text: string): readonly PersonalDatum[] {
  const addresses = findAddresses(text)
  const births = findBirthDates(text)
  if (addresses.length === 0 && births.length === 0) return []
  const around = (start: number, end: number) => [
    text.slice(Math.max(0, start - reach), start),
    text.slice(end, end + reach),
  ]
  // Apart from the address itself: a street is often named after somebody.
  const isNamed = (start: number, end: number) =>
    around(start, end).some((part) => nameField.test(part) || findNames(part).some(({ isFull }) => isFull))
  const hasSomebody = (start: number, end: number) => around(start, end).some((part) => somebody.test(part))
  const isHome = ({ start, end, said }: AddressSpan) =>
    said === 'home' ||
    (said !== 'public' && isNamed(start, end)) ||
    ((said === 'form' || said === 'sent') && hasSomebody(start, end))
  return [
    ...addresses.map((address) => ({
      kind: 'street_address' as const,
      start: address.start,
      end: address.end,
      isTied: isHome(address),
    })),
    ...births.map(({ start, end, said }) => ({
      kind: 'birth_date' as const,
      start,
      end,
      isTied:
        said === 'form' || around(start, end).some((part) => privately.test(part)) || addresses.some(isHome),
    })),
  ]
}

/** A field of a record or a form that has a name. */
const nameField =
  /(?:(?:first|last|full|given|family|customer|client|patient|passenger|employee|contact|recipient|guest|holder|user|sur|display)?[ _-]?name|vorname|nachname|nom|prénom|nombre|apellidos?|cognome|nome|naam|achternaam|imię|nazwisko|adı?|soyadı?|имя|фамилия|фио)["']?\s{0,2}[:=：]\s{0,4}["']?\p{Lu}|(?:姓名|氏名|성명|이름|الاسم)["']?\s{0,2}[:：]/iu

/** Encyclopedias tell when somebody was born; other words tell that it is no public person. */
const privately =
  /(?<!\p{L})(?:i was born|i am born|my|our (?:daughter|son|child|patient|client|customer|employee|tenant)|maiden name|patient|client|customer|employee|tenant|applicant|insured|passport|visa|ich bin|mein\p{L}{0,2}|geburtsname|patientin|kund(?:e|in)|mieter(?:in)?|je suis né|mon|ma|nom de jeune fille|nací|mi|paciente|cliente|sono nat[oa]|mio|mia|paziente|nasci|meu|minha|ik ben|mijn|patiënt|klant|urodziłem|urodziłam|mój|moja|pacjent(?:ka)?|klient(?:ka)?|doğdum|hastamız|müşterimiz|jag är|min|patienten|kunden)(?!\p{L})|я родил|мой|моя|пациент|клиент|我|患者|客户|私|患者様|저는|제|환자|고객|أنا|المريض|العميل/iu

/** What belongs to a person; findings and masks read the same text. */
export function* findTiedPersonalData(text: string): Generator<Identifier> {
  for (const { kind, start, end, isTied } of findPersonalData(text)) if (isTied) yield { kind, start, end }
}
