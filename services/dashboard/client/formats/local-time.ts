/** `2026-11-21 20:17:00`: how the pickers write a time, in the browser's zone and without naming it. */
export function localText(ms: number): string {
  const at = new Date(ms)
  return new Date(ms - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19).replace('T', ' ')
}

/** The same time as the API reads it. */
export function isoText(local: string | null): string | undefined {
  return local === null ? undefined : new Date(local.replace(' ', 'T')).toISOString()
}
