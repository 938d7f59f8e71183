/** A request and its answer, as one side saw them. Headers in order: name, value, name, value. */
export interface Exchange {
  /** Of the stand-in: the same on both sides. */
  number: string
  method: string
  /** Path with query. */
  path: string
  headers: readonly string[]
  body: Buffer
  answer: { status: number; headers: readonly string[]; body: Buffer }
}

/** Header of the stand-in's answers that numbers them. */
export const numberHeader = 'x-stand-in-number'

export function headerOf(raw: readonly string[], name: string): string | undefined {
  const at = raw.findIndex((each, index) => index % 2 === 0 && each.toLowerCase() === name)
  return at === -1 ? undefined : raw[at + 1]
}
