import { parseJson } from '#capture/json.ts'
import type { BodyPart, CallText } from '../call-text.ts'
import { isWords } from '../media-text.ts'
import { fieldNames } from '../pii/field-name.ts'
import { findPersonalData } from '../pii/find-personal-data.ts'
import type { Identifier } from '../pii/identifier.ts'
import { createLooseFields } from '../pii/loose-fields.ts'
import { jsonValues, type JsonValue } from './json-values.ts'
import { findMaskable, replaceFound, type Masker } from './mask-text.ts'

/** JSON in a string of JSON, and so on: a model's arguments have one level, what a tool passes on has two. */
const maxNested = 8

/** A value with what is to be masked in it. */
interface ReadValue {
  value: JsonValue
  /** The string, with what was masked in the JSON that it is. */
  text: string
  found: Identifier[]
}

/**
 * The same JSON with placeholders in its strings; everything else keeps its bytes. A number that is masked
 * becomes a string. Names of members stay.
 */
export function maskJson(json: string, masker: Masker, nested = 0): string {
  const fieldOf = fieldNames()
  const loose = createLooseFields()
  const read: ReadValue[] = []
  const byText = new Map<CallText, ReadValue>()
  for (const value of jsonValues(json)) {
    if (value.isNumber ? !mayIdentify(value) : !isWords(value.text)) continue
    const text = value.isNumber ? value.text : maskNested(value.text, masker, nested)
    const field = fieldOf({ ...value, text })
    const one = { value, text, found: findMaskable(text, field) }
    const isLoose = field !== '' && readLoose(one, field, masker, { loose, byText })
    if (isLoose || one.found.length > 0 || text !== value.text) read.push(one)
  }
  for (const { text, datum } of loose.tied()) byText.get(text)?.found.push(datum)
  return joined(json, read, masker)
}

/** True for an address that a name in another field may tie to a person, once all fields were read. */
function readLoose(
  one: ReadValue,
  field: string,
  { place }: Masker,
  kept: { loose: ReturnType<typeof createLooseFields>; byText: Map<CallText, ReadValue> },
): boolean {
  const { name, within } = one.value
  const part: BodyPart = place === 'response_body' ? 'response_body' : 'request_body'
  const given: CallText = { part, pointer: '', name, within, speaker: 'user', text: one.text, offset: 0 }
  const untied = findPersonalData(field + one.text).filter(({ isTied }) => !isTied)
  if (untied.length > 0) kept.byText.set(given, one)
  kept.loose.read(given, field, untied)
  return untied.length > 0
}

/** What detectors read of numbers (strings-of.ts), and numbers beyond 2^53, whose digits stand here. */
function mayIdentify({ name, text }: JsonValue): boolean {
  const digits = text.replace('-', '')
  if (!/^\d+$/.test(digits)) return false
  return digits.length >= 14 || (digits.length >= 7 && namesPerson.test(name))
}
const namesPerson =
  /phone|mobile|fax|ssn|passport|tax|national|social|card|cpf|pesel|aadha|nif|bsn|licen[cs]e/i

/** A string that is JSON itself, such as a tool's arguments: its own strings are decoded and masked. */
export function maskNested(text: string, masker: Masker, nested = 0): string {
  if (nested >= maxNested || !/^\s*[{["]/.test(text)) return text
  return parseJson(text) === undefined ? text : maskJson(text, masker, nested + 1)
}

function joined(json: string, read: readonly ReadValue[], masker: Masker): string {
  let masked = ''
  let from = 0
  for (const { value, text, found } of read) {
    const replaced = replaceFound(text, found, masker)
    if (replaced === value.text) continue
    masked += json.slice(from, value.start) + JSON.stringify(replaced)
    from = value.end
  }
  return masked + json.slice(from)
}
