/** `2026-11-21 20:17:00`: how the pickers write a time, in the browser's zone and without naming it. */
export function localText(ms: number): string {
  const at = new Date(ms)
  return new Date(ms - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19).replace('T', ' ')
}

/**
 * The same time as the API reads it. `filled`: what the picker was filled with, which stays where it was not changed: its text says neither parts of
 * a second nor, in the hour that comes twice when clocks go back, which of the two.
 */
export function isoText(local: string | null, filled?: string): string | undefined {
  if (local === null) return undefined
  return filled !== undefined && localText(Date.parse(filled)) === local
    ? filled
    : new Date(local.replace(' ', 'T')).toISOString()
}

/** What a form's two pickers hold. */
export interface PickedTexts {
  start: string | null
  end: string | null
}

/** As the API reads them; `filled` is what they were filled with. */
export function isoTexts(
  { start, end }: PickedTexts,
  filled: { start?: string | undefined; end?: string | undefined },
): { start: string | undefined; end: string | undefined } {
  return { start: isoText(start, filled.start), end: isoText(end, filled.end) }
}

export function localTextOf(iso: string | undefined): string | null {
  return iso === undefined ? null : localText(Date.parse(iso))
}
