import { shownZone } from './zone.ts'

/** `2026-11-21 20:17:00`: the pickers' format, in the shown zone without naming it. */
export function localText(ms: number): string {
  const minutes = shownZone() === 'utc' ? 0 : new Date(ms).getTimezoneOffset()
  return new Date(ms - minutes * 60_000).toISOString().slice(0, 19).replace('T', ' ')
}

/**
 * The time in the API's format. `filled`, the initial value, is returned if unchanged: the picker's text
 * lacks fractions of a second, and is ambiguous in the hour repeated when clocks go back.
 */
export function isoText(local: string | null, filled?: string): string | undefined {
  if (local === null) return undefined
  return filled !== undefined && localText(Date.parse(filled)) === local
    ? filled
    : new Date(`${local.replace(' ', 'T')}${shownZone() === 'utc' ? 'Z' : ''}`).toISOString()
}

/** The values of a form's two pickers. */
export interface PickedTexts {
  start: string | null
  end: string | null
}

/** The same in the API's format; `filled`: their initial values. */
export function isoTexts(
  { start, end }: PickedTexts,
  filled: { start?: string | undefined; end?: string | undefined },
): { start: string | undefined; end: string | undefined } {
  return { start: isoText(start, filled.start), end: isoText(end, filled.end) }
}

export function localTextOf(iso: string | undefined): string | null {
  return iso === undefined ? null : localText(Date.parse(iso))
}
