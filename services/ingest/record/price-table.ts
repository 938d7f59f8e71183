import { z } from 'zod'
import type { CallContext } from '#schemas/call-context.ts'

/** `infra/prices.json`: US dollars for a million tokens. */
const priceFileSchema = z.object({
  prices: z.array(
    z.object({
      model: z.string(),
      input: z.number().min(0),
      /** Null: cached tokens cost what others do. */
      cached_input: z.number().min(0).nullable(),
      output: z.number().min(0),
      as_of: z.iso.date(),
      source: z.url(),
    }),
  ),
})

export type TokenCounts = Pick<
  CallContext,
  'prompt_tokens' | 'completion_tokens' | 'cached_tokens' | 'reasoning_tokens'
>

export interface PriceTable {
  /** US dollars; null when the model's price or both token counts are unknown. */
  costOf(model: string, tokens: TokenCounts): number | null
}

const perMillion = 1_000_000
/** Names that hosts put before a model's, and dates that providers put behind it. */
const hostPrefix = /^.*\//
const versionSuffix = /([-@]\d{4}-?\d{2}-?\d{2}|-latest)$/

/** Throws ZodError when the file's content is not a price table. */
export function createPriceTable(content: unknown): PriceTable {
  const prices = new Map(priceFileSchema.parse(content).prices.map((price) => [price.model, price]))
  return {
    costOf(model, tokens) {
      const name = model.toLowerCase().replace(hostPrefix, '')
      const price = prices.get(name) ?? prices.get(name.replace(versionSuffix, ''))
      if (price === undefined) return null
      if (tokens.prompt_tokens === null && tokens.completion_tokens === null) return null
      // The buckets do not overlap (capture/usage.ts), so each token is paid for once. Reasoning is billed as output.
      const input = (tokens.prompt_tokens ?? 0) * price.input
      const cached = (tokens.cached_tokens ?? 0) * (price.cached_input ?? price.input)
      const output = ((tokens.completion_tokens ?? 0) + (tokens.reasoning_tokens ?? 0)) * price.output
      // Prices have at most four decimals a million tokens, so ten decimals are exact; the rest is binary noise.
      return Number(((input + cached + output) / perMillion).toFixed(10))
    },
  }
}
