/** At most `length` UTF-16 units of a text, without splitting a surrogate pair. */
export function beginningOf(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '')
}
