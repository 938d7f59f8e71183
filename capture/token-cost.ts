/**
 * Tokens that may have another price than the text of their bucket. `grounded_input` was found by a search
 * with a fee.
 */
const partsOf = {
  input: ['audio_input', 'image_input', 'video_input', 'grounded_input'],
  cached_input: ['audio_cached_input', 'image_cached_input', 'video_cached_input'],
  output: ['audio_output', 'image_output', 'video_output'],
} as const
type Bucket = keyof typeof partsOf
export type TokenPart = (typeof partsOf)[Bucket][number]

export const tokenParts: readonly TokenPart[] = Object.values(partsOf).flat()

/**
 * US dollars per million tokens. Image and video input without a rate costs the same as text; other parts
 * without one are unknown.
 */
export interface Rates extends Partial<Record<TokenPart, number | undefined>> {
  input: number
  /** Absent: cached tokens and cache writes cost the same as input. */
  cached_input?: number | undefined
  cache_write?: number | undefined
  /** Absent beside `cache_write`: unknown. */
  cache_write_1h?: number | undefined
  output: number
}

/** Multiplier of all token prices, optionally another one for cached input. */
export type TierTimes = number | { times: number; cached_input: number }

/** Tokens of a call in disjoint buckets (usage.ts), and cache writes. */
export interface TokenCounts {
  prompt_tokens: number | null
  completion_tokens: number | null
  cached_tokens: number | null
  reasoning_tokens: number | null
  /** Part of prompt_tokens; absent: none. */
  written_tokens?: number | undefined
  /** Part of written_tokens: cached for an hour, which costs more. */
  written_hour_tokens?: number | undefined
  /** Parts of the buckets that are not text; absent: none. */
  parts?: Readonly<Partial<Record<TokenPart, number>>> | undefined
}

const perMillion = 1_000_000

/**
 * US dollars; null if a rate is unknown. Each token is billed once: cache writes and non-text parts are
 * subtracted from the rest. Reasoning is billed as output.
 */
export function costOfTokens(rates: Rates, tokens: TokenCounts, tier: TierTimes): number | null {
  const prompt = tokens.prompt_tokens ?? 0
  const written = Math.min(prompt, tokens.written_tokens ?? 0)
  const cachedRate = rates.cached_input ?? rates.input
  const writes = costOfWrites(rates, written, Math.min(written, tokens.written_hour_tokens ?? 0))
  const input = costOfBucket('input', prompt - written, rates.input, rates, tokens)
  const cached = costOfBucket('cached_input', tokens.cached_tokens ?? 0, cachedRate, rates, tokens)
  const answered = (tokens.completion_tokens ?? 0) + (tokens.reasoning_tokens ?? 0)
  const output = costOfBucket('output', answered, rates.output, rates, tokens)
  if (writes === null || input === null || cached === null || output === null) return null
  const { times, cached_input: cachedTimes } =
    typeof tier === 'number' ? { times: tier, cached_input: tier } : tier
  return (times * (input + writes + output) + cachedTimes * cached) / perMillion
}

function costOfWrites(rates: Rates, written: number, hour: number): number | null {
  const writeRate = rates.cache_write ?? rates.input
  const hourRate = rates.cache_write_1h ?? (rates.cache_write === undefined ? rates.input : undefined)
  if (hour > 0 && hourRate === undefined) return null
  return (written - hour) * writeRate + hour * (hourRate ?? 0)
}

function costOfBucket(
  bucket: Bucket,
  count: number,
  textRate: number,
  rates: Rates,
  { parts = {} }: TokenCounts,
): number | null {
  let [text, sum] = [count, 0]
  for (const part of partsOf[bucket]) {
    const tokens = Math.min(text, parts[part] ?? 0)
    const rate = rates[part] ?? (costsAsText.includes(part) ? textRate : undefined)
    if (tokens > 0 && rate === undefined) return null
    sum += tokens * (rate ?? 0)
    text -= tokens
  }
  return sum + text * textRate
}

/** Billed as text without a rate of their own, as providers count images and frames among prompt tokens. */
const costsAsText: readonly TokenPart[] = [
  ...(['image_input', 'image_cached_input'] as const),
  ...(['video_input', 'video_cached_input'] as const),
]
