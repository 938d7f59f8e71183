/**
 * Tokens that may cost other than the text of their bucket does, of which they are a part. What was
 * grounded a search brought in, for a fee.
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
 * US dollars for a million tokens. Image and video that is read costs what text does where it has no rate;
 * what else has none is unknown.
 */
export interface Rates extends Partial<Record<TokenPart, number | undefined>> {
  input: number
  /** Absent: cached tokens cost what others do, and so do those written to a cache. */
  cached_input?: number | undefined
  cache_write?: number | undefined
  /** Absent where `cache_write` is there: unknown. */
  cache_write_1h?: number | undefined
  output: number
}

/** Times what all tokens cost, or another for those from the cache. */
export type TierTimes = number | { times: number; cached_input: number }

/**
 * Tokens of one call in buckets that do not overlap (usage.ts), and what of the prompt was written to a
 * cache.
 */
export interface TokenCounts {
  prompt_tokens: number | null
  completion_tokens: number | null
  cached_tokens: number | null
  reasoning_tokens: number | null
  /** Part of prompt_tokens; absent: none. */
  written_tokens?: number | undefined
  /** Part of written_tokens: written to be kept for an hour, which costs more. */
  written_hour_tokens?: number | undefined
  /** Parts of the buckets that are no text; absent: none. */
  parts?: Readonly<Partial<Record<TokenPart, number>>> | undefined
}

const perMillion = 1_000_000

/**
 * US dollars, null where a rate is unknown. Each token is paid for once: what was written to a cache, and
 * what is no text, is taken out of the rest. Reasoning is billed as output.
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

/**
 * Where they have no rate of their own: as providers count images and frames among the tokens of the
 * prompt.
 */
const costsAsText: readonly TokenPart[] = [
  ...(['image_input', 'image_cached_input'] as const),
  ...(['video_input', 'video_cached_input'] as const),
]
