const hourMs = 3_600_000
/** Ranges that end now, by their name in the address. */
export const presets = {
  '1h': { label: 'Last hour', ms: hourMs },
  '24h': { label: 'Last 24 hours', ms: 24 * hourMs },
  '7d': { label: 'Last 7 days', ms: 7 * 24 * hourMs },
  '30d': { label: 'Last 30 days', ms: 30 * 24 * hourMs },
  '90d': { label: 'Last 90 days', ms: 90 * 24 * hourMs },
} as const
export type Preset = keyof typeof presets

export interface RangeTexts {
  range?: string | undefined
  start?: string | undefined
  end?: string | undefined
}

export interface ChosenRange {
  /** Null: by start and end. */
  preset: Preset | null
  /** In the API's format; without an end the range is open. */
  start: string | undefined
  end: string | undefined
}

/** The range in an address, or the fallback if it is invalid. */
export function readRange(texts: RangeTexts, fallback: Preset, nowMs: number): ChosenRange {
  const start = readTime(texts.start)
  const end = readTime(texts.end)
  if (start !== undefined || end !== undefined) return { preset: null, start, end }
  const preset = isPreset(texts.range) ? texts.range : fallback
  const { ms } = presets[preset]
  // Rounded, so that recent answers stay cached; reports are hourly anyway.
  const stepMs = ms > hourMs ? hourMs : 300_000
  return { preset, start: new Date(Math.floor((nowMs - ms) / stepMs) * stepMs).toISOString(), end: undefined }
}

function isPreset(text: string | undefined): text is Preset {
  return text !== undefined && Object.hasOwn(presets, text)
}

function readTime(text: string | undefined): string | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

/** A range around a time; open-ended if its end has not passed. */
export function rangeAround(
  { from, to }: { from: string; to: string },
  marginMs: number,
  nowMs: number,
): RangeTexts {
  const endMs = Date.parse(to) + marginMs
  return {
    start: new Date(Date.parse(from) - marginMs).toISOString(),
    ...(endMs < nowMs ? { end: new Date(endMs).toISOString() } : {}),
  }
}

/** The range for the address of another page. */
export function rangeTexts({ preset, start, end }: ChosenRange): RangeTexts {
  return preset === null ? { start, end } : { range: preset }
}

/** The period of the same length before a range. Undefined: the range has no start. */
export function periodBefore(
  { preset, start, end }: ChosenRange,
  nowMs: number,
): { start: string; end: string } | undefined {
  if (start === undefined) return undefined
  const startMs = Date.parse(start)
  // Rounded, so that the answer is cached.
  const endMs = end === undefined ? Math.ceil(nowMs / hourMs) * hourMs : Date.parse(end)
  const ms = preset === null ? endMs - startMs : presets[preset].ms
  return { start: new Date(startMs - ms).toISOString(), end: start }
}
