export type SearchTexts = Readonly<Record<string, string | undefined>>

/**
 * Parameters of the address stay text: the router's own parser makes `?user_id=123` a number and
 * `?agrees=false` a boolean.
 */
export function parseSearch(search: string): SearchTexts {
  return Object.fromEntries(new URLSearchParams(search))
}

/** With the question mark; omits values that are not text. */
export function writeSearch(texts: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(texts).filter((pair): pair is [string, string] => typeof pair[1] === 'string')
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}
