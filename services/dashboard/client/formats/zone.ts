export type Zone = 'local' | 'utc'

let shown: Zone = 'local'

/** Sets the zone in which times are shown and typed: the browser's, or UTC. What is on the page is kept. */
export function showTimesIn(zone: Zone): void {
  shown = zone
}

export function shownZone(): Zone {
  return shown
}

/** `UTC` or `Europe/Berlin`. */
export function nameOfZone(zone: Zone = shown): string {
  return zone === 'utc' ? 'UTC' : new Intl.DateTimeFormat().resolvedOptions().timeZone
}
