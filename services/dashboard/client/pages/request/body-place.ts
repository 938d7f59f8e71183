export type BodyPart = 'request_body' | 'response_body'

/** A value in a body and its location: evidence names it by JSON pointer. */
export interface Place {
  readonly part: BodyPart
  readonly pointer: string
  readonly value: unknown
  /** The first of these fields that exists; none if this is not an object. */
  at(...names: readonly string[]): Place
  items(): Place[]
}

export function bodyAt(part: BodyPart, value: unknown, pointer = ''): Place {
  const child = (key: string | number, found: unknown) =>
    bodyAt(part, found, `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`)
  return {
    part,
    pointer,
    value,
    at(...names) {
      const name = names.find((each) => isRecord(value) && Object.hasOwn(value, each) && value[each] !== null)
      return name === undefined || !isRecord(value)
        ? child(names[0] ?? '', undefined)
        : child(name, value[name])
    },
    items: () => (Array.isArray(value) ? value.map((item: unknown, index) => child(index, item)) : []),
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function textAt(place: Place, name: string): string | undefined {
  const { value } = place.at(name)
  return typeof value === 'string' ? value : undefined
}

export function listAt(place: Place, name: string): Place[] {
  return place.at(name).items()
}
