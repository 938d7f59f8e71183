/** Every string in a JSON value, with its pointer, in document order. Keys are not strings of it. */
export function* stringsOf(value: unknown, pointer = ''): Generator<{ pointer: string; text: string }> {
  // A stack of its own: a body nested 100,000 deep must not end the process.
  const stack: { value: unknown; pointer: string }[] = [{ value, pointer }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next.value === 'string') yield { pointer: next.pointer, text: next.value }
    else for (const child of childrenOf(next.value, next.pointer)) stack.push(child)
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
