import type { CallText } from '../call-text.ts'
import type { PersonalDatum } from './find-personal-data.ts'

interface LooseDatum {
  text: CallText
  datum: PersonalDatum
}

/** Words of a field's name that say that it holds the name of a person. */
const nameField =
  /(?:^|\s)(?:first|last|full|given|family|sur|customer|client|patient|passenger|employee|contact|recipient|guest|holder|user)? ?(?:name|vorname|nachname|nom|prénom|nombre|apellidos?|cognome|nome|naam|imię|nazwisko|adı|soyadı|имя|фамилия|фио|姓名|氏名|성명)\s?\d?: $/iu
const maxLoose = 50

/**
 * Fields of a record, each a string of its own: an address in one belongs to the person named in another of
 * the same body.
 */
export function createLooseFields() {
  const kept: LooseDatum[] = []
  const named = new Set<CallText['part']>()
  return {
    /** `field`: the text's field name, as prepended to it when `untied` was found. */
    read(text: CallText, field: string, untied: readonly PersonalDatum[]): void {
      if (nameField.test(field) && /^\p{Lu}|^[^\0-\u024f]/u.test(text.text)) named.add(text.part)
      for (const datum of untied) {
        const start = datum.start - field.length
        if (start < 0 || kept.length >= maxLoose) continue
        kept.push({ text, datum: { ...datum, start, end: datum.end - field.length } })
      }
    },
    tied(): readonly LooseDatum[] {
      return kept.filter(({ text }) => named.has(text.part))
    },
  }
}
