import type { Path } from './along-names.ts'

/** A string of a JSON value, and where it stands. */
export interface PlacedString extends Place {
  text: string
}

interface Place extends Path {
  /** What it holds the path says without being copied: nobody looks into it. */
  pointer: string
}

const body = { pointer: '', name: '', within: null }

export function memberOfBody(name: string): Place {
  return { pointer: `/${name}`, name, within: body }
}

/** Every string in a JSON value that stands at a place, in document order. Keys are not strings of it. */
export function* stringsOf(value: unknown, { pointer, name, within }: Place = body): Generator<PlacedString> {
  // A stack of its own: a body nested 100,000 deep must not end the process.
  const stack: (Child & Pick<Path, 'within'>)[] = [{ value, pointer, key: name, within }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { value: held, pointer: at, key } = next
    if (typeof held === 'string') yield { pointer: at, name: key, within: next.within, text: held }
    else {
      const path = { name: key, within: next.within }
      for (const child of childrenOf(held, at)) stack.push({ ...child, within: path })
    }
  }
}

interface Child {
  key: string
  value: unknown
  pointer: string
}

/** Last first, and only what can hold words: a vector's numbers, which may be millions, are not even named. */
export function* childrenOf(value: unknown, pointer: string): Generator<Child> {
  if (Array.isArray(value)) {
    for (let at = value.length - 1; at >= 0; at -= 1) {
      const child: unknown = value[at]
      if (canHoldWords(child)) yield { key: String(at), value: child, pointer: `${pointer}/${at}` }
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const key of Object.keys(value).reverse()) {
      const child = (value as Readonly<Record<string, unknown>>)[key]
      if (!canHoldWords(child) && !isNamedNumber(key, child)) continue
      yield { key, value: child, pointer: `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}` }
    }
  }
}

function canHoldWords(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null) || isLongNumber(value)
}

/** What a number of seven digits is may say its key: an account's and a person's are such as well. */
function isNamedNumber(key: string, value: unknown): boolean {
  return Number.isSafeInteger(value) && Math.abs(value as number) >= 1e6 && namesPerson.test(key)
}
const namesPerson =
  /phone|mobile|fax|ssn|passport|tax|national|social|card|cpf|pesel|aadha|nif|bsn|licen[cs]e/i

/** A card's number may be a number as well: from 14 digits (times in milliseconds have 13) to what JSON's hold exactly. */
function isLongNumber(value: unknown): boolean {
  return Number.isSafeInteger(value) && Math.abs(value as number) >= 1e13
}
