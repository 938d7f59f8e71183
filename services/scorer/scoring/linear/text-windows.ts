/** Training texts are seldom longer: what stands in a longer text is read a passage at a time, lest the rest drown it. */
const windowUnits = 4_000
const stepUnits = 3_000

/** The passages of a text that models read, one after another. */
export function windowsOf(text: string): { start: number; end: number }[] {
  const windows: { start: number; end: number }[] = []
  for (let start = 0; start === 0 || start + windowUnits - stepUnits < text.length; start += stepUnits)
    windows.push({ start, end: Math.min(text.length, start + windowUnits) })
  return windows
}
