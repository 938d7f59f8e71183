/** `words(3)`: in a pattern, up to three words between two others. */
export function words(count: number): string {
  return String.raw`(?:\W+\w+){0,${count}}?\W+`
}
