import { labelling, type Path } from '../along-names.ts'

/** A value of a field is short; longer texts bring their own words. */
const maxValueUnits = 256
/** Names that say nothing of what stands under them, or whose words mean something else before a text. */
const plainNames =
  /^(?:\d+|text|content|contents|input|output|body|message|value|values|result|data|line|number|call|contact|prompt|query)$/i

/**
 * Tells what the fields are called that values stand in, in words: of `/arguments/customer/phoneNumber` "phone number: ". In data a number's name is its
 * key, as "SSN:" is in prose. Empty where no key names the value.
 */
export function fieldNames(): (text: Path & { text: string }) => string {
  const labelOf = labelling()
  return (text) => (text.text.length > maxValueUnits ? '' : asWords(labelOf(text)))
}

/** "db_password" and "dbPassword" are "db password: ". */
export function asWords(key: string): string {
  if (key.length > 64 || plainNames.test(key)) return ''
  return `${inWords(key)}: `
}

/** Names in code as words: `needs` and the like look for whole words. */
export function inWords(text: string): string {
  return text.replace(/([a-z])(?=[A-Z][a-z])|_/g, '$1 ')
}
