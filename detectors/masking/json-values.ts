import type { Path } from '../along-names.ts'

/** A string or number of a JSON text, by the offsets of its token. Names of members are none. */
export interface JsonValue extends Path {
  start: number
  end: number
  /** Decoded; a number as it is written. */
  text: string
  isNumber: boolean
}

interface Open {
  path: Path
  isList: boolean
  index: number
  key: string
  /** The next string is a name. */
  awaitsName: boolean
}

const plainNumber = /-?\d[\d.eE+-]*/y

/** The strings and numbers of a valid JSON text, in its order. */
export function* jsonValues(json: string): Generator<JsonValue> {
  // An explicit stack: a tool's arguments may be nested as deep as their author likes.
  const open: Open[] = []
  let at = 0
  const placed = (start: number, end: number, text: string, isNumber: boolean): JsonValue => {
    const holder = open.at(-1)
    const name = holder === undefined ? '' : holder.isList ? String(holder.index) : holder.key
    return { start, end, text, isNumber, name, within: holder?.path ?? null }
  }
  while (at < json.length) {
    const character = json.charAt(at)
    const holder = open.at(-1)
    if (character === '"') {
      const end = endOfString(json, at)
      const text = decode(json.slice(at, end))
      if (holder?.awaitsName === true) {
        holder.key = text
        holder.awaitsName = false
      } else yield placed(at, end, text, false)
      at = end
      continue
    }
    if (character === '-' || (character >= '0' && character <= '9')) {
      plainNumber.lastIndex = at
      const text = plainNumber.exec(json)?.[0] ?? character
      yield placed(at, at + text.length, text, true)
      at += text.length
      continue
    }
    if (character === '{' || character === '[') {
      const { name, within } = placed(at, at, '', false)
      const isList = character === '['
      open.push({ path: { name, within }, isList, index: 0, key: '', awaitsName: !isList })
    } else if (character === '}' || character === ']') open.pop()
    else if (character === ',' && holder !== undefined) {
      holder.index += 1
      holder.awaitsName = !holder.isList
    }
    at += 1
  }
}

function endOfString(json: string, from: number): number {
  let at = from
  for (;;) {
    at = json.indexOf('"', at + 1)
    if (at === -1) return json.length
    let before = at - 1
    while (json[before] === '\\') before -= 1
    // An even number of backslashes escapes only themselves.
    if ((at - before) % 2 === 1) return at + 1
  }
}

function decode(token: string): string {
  return token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1)
}
