import type { Path } from './along-names.ts'

/** A string in a JSON value, with its location. */
export interface PlacedString extends Place {
  text: string
}

interface Place extends Path {
  /** Concatenated, but never flattened unless somebody reads it; few are read. */
  pointer: string
}

const body = { pointer: '', name: '', within: null }

export function memberOfBody(name: string): Place {
  return { pointer: `/${name}`, name, within: body }
}

/** All strings of the JSON value at a place, in document order, without keys. */
export function* stringsOf(value: unknown, { pointer, name, within }: Place = body): Generator<PlacedString> {
  // An explicit stack: bodies nested 100,000 deep must not overflow.
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

/** In reverse order, and only what can hold words: a vector's numbers, possibly millions, get no path. */
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

/** A number of seven or more digits whose key may say that it is an account or a person's id. */
function isNamedNumber(key: string, value: unknown): boolean {
  return Number.isSafeInteger(value) && Math.abs(value as number) >= 1e6 && namesPerson.test(key)
}
const namesPerson =
  /phone|mobile|fax|ssn|passport|tax|national|social|card|cpf|pesel|aadha|nif|bsn|licen[cs]e/i

/** Possibly a card number: from 14 digits (millisecond timestamps have 13) up to JSON's exact integers. */
function isLongNumber(value: unknown): boolean {
  return Number.isSafeInteger(value) && Math.abs(value as number) >= 1e13
}
