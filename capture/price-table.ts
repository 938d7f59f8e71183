import { bedrockPrefix, bedrockRegion, providerOfCall } from './providers.ts'

/** US dollars for a million tokens. */
export interface Rates {
  input: number
  /** Absent: cached tokens cost what others do. The same for what is written to a cache, and written for an hour. */
  cached_input?: number | undefined
  cache_write?: number | undefined
  cache_write_1h?: number | undefined
  output: number
}

/** What some models of one host cost. */
export interface Price extends Rates {
  /** Who is paid: the host, as `provider` of a call names it. Absent: whoever it is. */
  provider?: string | undefined
  /** In lower case, without what hosts put before a name and versions behind it. */
  models: readonly string[]
  /** The rates of a whole call that reads more than `above` tokens. */
  long?: (Rates & { above: number }) | undefined
  /** What a call costs that another tier served, in times of these rates: `{"flex": 0.5}`. A tier that is not named costs no more and no less. */
  tiers?: Readonly<Record<string, number>> | undefined
}

/** Tokens of one call in buckets that do not overlap (usage.ts), and what of the prompt was written to a cache. */
export interface TokenCounts {
  prompt_tokens: number | null
  completion_tokens: number | null
  cached_tokens: number | null
  reasoning_tokens: number | null
  /** Part of prompt_tokens; absent: none. */
  written_tokens?: number | undefined
  /** Part of written_tokens: written to be kept for an hour, which costs more. */
  written_hour_tokens?: number | undefined
}

export interface PriceTable {
  /** US dollars; null when the price or both token counts are unknown: never 0 for that. */
  costOf(call: PricedModel, tokens: TokenCounts): number | null
}

export interface PricedModel {
  model: string
  provider: string | null
  /** As the answer says it (service-tier.ts); absent or null: the standard one. */
  serviceTier?: string | null
}

/** Of two prices of a model the later one holds; one without a provider goes before all others. */
export function createPriceTable(prices: readonly Price[]): PriceTable {
  const byName = new Map<string, Price>()
  for (const price of prices) {
    for (const model of price.models) byName.set(nameOf(price.provider, model), price)
  }
  return {
    costOf(call, tokens) {
      const price = findPrice(byName, call)
      if (price === undefined || (tokens.prompt_tokens === null && tokens.completion_tokens === null))
        return null
      const read = (tokens.prompt_tokens ?? 0) + (tokens.cached_tokens ?? 0)
      const rates = price.long !== undefined && read > price.long.above ? price.long : price
      return costAt(rates, tokens, timesOf(price, call.serviceTier))
    },
  }
}

const anyProvider = '*'
const nameOf = (provider: string | undefined, model: string) => `${provider ?? anyProvider} ${model}`

/** The host's own price (Bedrock's names say which it is), else that of the maker of the model, whose list prices hosts commonly take. */
function findPrice(prices: ReadonlyMap<string, Price>, { model, provider }: PricedModel): Price | undefined {
  const names = namesOf(model)
  const named = bedrockPrefix.test(names[0] ?? '') ? 'bedrock' : null
  const hosts = [anyProvider, named, provider?.toLowerCase(), providerOfCall([model], null)]
  for (const host of hosts) {
    if (host === null || host === undefined) continue
    const found = names.map((name) => prices.get(nameOf(host, name))).find((price) => price !== undefined)
    if (found !== undefined) return found
  }
  return undefined
}

const hostPrefix = /^.*\//
/** Bedrock's `-v1:0`. */
const revision = /(?:-v\d+)?(?::\d+)?$/
const version = /(?:[-@]\d{4}-?\d{2}-?\d{2}|[-@]latest|-\d{2}-\d{4}|-\d{3})$/
const maker = /^[a-z0-9]+\.(?=[a-z])/

/** What a model may stand under in the table, the most exact first. */
function namesOf(model: string): string[] {
  const name = model.toLowerCase().replace(hostPrefix, '')
  const exact = [name, name.replace(revision, ''), name.replace(revision, '').replace(version, '')]
  const anywhere = exact.map((candidate) => candidate.replace(bedrockRegion, ''))
  return [...new Set([...exact, ...anywhere, ...anywhere.map((candidate) => candidate.replace(maker, ''))])]
}

/** An answer may name any tier, `constructor` too. */
function timesOf({ tiers = {} }: Price, tier: string | null | undefined): number {
  return typeof tier === 'string' && Object.hasOwn(tiers, tier) ? (tiers[tier] ?? 1) : 1
}

const perMillion = 1_000_000

/** Each token is paid for once: what was written to a cache is taken out of the rest of the prompt. Reasoning is billed as output. */
function costAt(rates: Rates, tokens: TokenCounts, times: number): number {
  const prompt = tokens.prompt_tokens ?? 0
  const written = Math.min(prompt, tokens.written_tokens ?? 0)
  const hour = Math.min(written, tokens.written_hour_tokens ?? 0)
  const writeRate = rates.cache_write ?? rates.input
  const input = (prompt - written) * rates.input
  const writes = (written - hour) * writeRate + hour * (rates.cache_write_1h ?? writeRate)
  const cached = (tokens.cached_tokens ?? 0) * (rates.cached_input ?? rates.input)
  const output = ((tokens.completion_tokens ?? 0) + (tokens.reasoning_tokens ?? 0)) * rates.output
  // Prices have at most five decimals a million tokens, so that eleven are exact but where a tier's factor is none; the rest is binary noise.
  return Number(((times * (input + writes + cached + output)) / perMillion).toFixed(11))
}
