/** At most `length` UTF-16 units of a text: none is cut through a character that takes two. */
export function beginningOf(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '')
}
