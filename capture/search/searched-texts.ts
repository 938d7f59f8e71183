import { objectOf, parseJson } from '../json.ts'
import { isReadable, likeBase64 } from '../words-in-base64.ts'

/** Pictures and sound in base64. A key of the same alphabet is shorter. */
const minBase64 = 1_024
/** Tool arguments are JSON in a string; such JSON may hold JSON again. */
const maxNested = 4
const argumentFields: ReadonlySet<string> = new Set(['arguments', 'args', 'input', 'parameters'])

interface Pending {
  value: unknown
  nested: number
  /** Whether it is an object of arguments, whose names are searched too. */
  isArguments: boolean
}

/**
 * The texts of a body that a search reads: every string and whole number, the names of tools' arguments, and
 * what JSON within a string holds. Signatures are made of the same texts. Text that is not JSON is read as it
 * is. Iterative, as bodies may be nested deeper than the stack.
 */
export function* searchedTexts(json: string): Generator<string> {
  const parsed = parsedOr(json)
  const pending: Pending[] = [{ value: parsed ?? json, nested: 0, isArguments: false }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, nested, isArguments } = next
    if (typeof value === 'string') {
      if (!isMedia(value)) yield value
      // Without escapes its values are in the text as it is.
      const inner = nested < maxNested && value.includes('\\') ? parsedOr(value) : undefined
      if (inner !== undefined) pending.push({ value: inner, nested: nested + 1, isArguments })
    } else if (typeof value === 'number') {
      if (Number.isSafeInteger(value)) yield String(value)
    } else if (Array.isArray(value)) {
      for (const each of (value as unknown[]).toReversed()) pending.push({ value: each, nested, isArguments })
    } else {
      const object = objectOf(value)
      if (object === undefined) continue
      if (isArguments) yield* Object.keys(object)
      for (const [name, each] of Object.entries(object).toReversed()) {
        const ofArguments = argumentFields.has(name) && !Array.isArray(each)
        pending.push({ value: each, nested, isArguments: isArguments || ofArguments })
      }
    }
  }
}

function isMedia(text: string): boolean {
  return text.length >= minBase64 && likeBase64.test(text) && !isReadable(text)
}

/** An object or array; undefined for anything else. */
function parsedOr(text: string): unknown {
  return /^\s*[[{]/.test(text) ? parseJson(text) : undefined
}
