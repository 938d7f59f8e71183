import { labelling, type Path } from '../along-names.ts'

/** Field values are short; longer texts have their own words. */
const maxValueUnits = 256
/** Names that say nothing about their value, or that mean something else before a text. */
const plainNames =
  /^(?:\d+|text|content|contents|input|output|body|message|value|values|result|data|line|number|call|contact|prompt|query)$/i

/**
 * Field names of values, as words: "phone number: " for `/arguments/customer/phoneNumber`. In data a key does
 * what "SSN:" does in prose. Empty if no key names the value.
 */
export function fieldNames(): (text: Path & { text: string }) => string {
  const labelOf = labelling()
  return (text) => (text.text.length > maxValueUnits ? '' : asWords(labelOf(text)))
}

/** "db_password" and "dbPassword" become "db password: ". */
export function asWords(key: string): string {
  if (key.length > 64 || plainNames.test(key)) return ''
  return `${inWords(key)}: `
}

/** Splits names in code into words, since `needs` and the like match whole words. */
export function inWords(text: string): string {
  return text.replace(/([a-z])(?=[A-Z][a-z])|_/g, '$1 ')
}
