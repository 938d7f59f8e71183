/** Training texts are seldom longer. Longer ones are read in passages, so that the signal is not diluted. */
const windowUnits = 4_000
const stepUnits = 3_000

/** The consecutive passages of a text that models read. */
export function windowsOf(text: string): { start: number; end: number }[] {
  const windows: { start: number; end: number }[] = []
  for (let start = 0; start === 0 || start + windowUnits - stepUnits < text.length; start += stepUnits)
    windows.push({ start, end: Math.min(text.length, start + windowUnits) })
  return windows
}
