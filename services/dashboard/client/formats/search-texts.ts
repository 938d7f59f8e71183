export type SearchTexts = Readonly<Record<string, string | undefined>>

/** What stands in the address bar is text and stays as it was typed: the router's own reader makes a number of `?user_id=123` and of `?agrees=false` a boolean. */
export function parseSearch(search: string): SearchTexts {
  return Object.fromEntries(new URLSearchParams(search))
}

/** With its question mark; what is no text is left out. */
export function writeSearch(texts: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(texts).filter((pair): pair is [string, string] => typeof pair[1] === 'string')
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}
