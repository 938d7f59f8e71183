import { bedrockPrefix, bedrockRegion, providerOfCall } from './providers.ts'
import { costOfTokens, type Rates, type TierTimes, type TokenCounts } from './token-cost.ts'

/** US dollars per use of a hosted tool, or per call that used it. */
export type UseFee = number | { per_call: number }

/** Prices of some models at one host. */
export interface Price extends Rates {
  /** The host, as in a call's `provider`. Absent: any host. */
  provider?: string | undefined
  /** Lower-case names, without host prefixes and version suffixes. */
  models: readonly string[]
  /** Rates for a whole call with more than `above` input tokens. */
  long?: (Rates & { above: number }) | undefined
  /** Multipliers of these rates by service tier: `{"flex": 0.5}`. */
  tiers?: Readonly<Record<string, TierTimes>> | undefined
  /** Multipliers by region, as in Anthropic's `inference_geo`. */
  inference_geo?: Readonly<Record<string, number>> | undefined
  /** Fees of hosted tools, by their names in billed-parts.ts. */
  uses?: Readonly<Record<string, UseFee>> | undefined
  /** US dollars per call, for models that always search. */
  call?: number | undefined
}

export interface PriceTable {
  /**
   * US dollars. Null if a price, or both token counts, are unknown: never 0, and never the standard price for
   * another tier.
   */
  costOf(call: PricedModel, tokens: TokenCounts): number | null
}

export interface PricedModel {
  model: string
  provider: string | null
  /** As stated by the answer (service-tier.ts); absent or null: standard. */
  serviceTier?: string | null
  /** Region of the call, as stated by the answer; absent or null: any. */
  inferenceGeo?: string | null
  /** Uses of each hosted tool (billed-parts.ts). */
  uses?: Readonly<Record<string, number>>
}

/** A later price of a model replaces an earlier one; a price without a provider applies before all others. */
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
      const tier = timesOf(price.tiers, call.serviceTier, standardTiers)
      const geo = timesOf(price.inference_geo, call.inferenceGeo, usualGeos)
      const fees = feesOf(price, call)
      if (tier === undefined || geo === undefined || fees === null) return null
      const usd = costOfTokens(rates, tokens, tier)
      // Prices have at most five decimals per million tokens, so eleven digits are exact without a factor;
      // the rest is binary noise.
      return usd === null ? null : Number((geo * usd + fees).toFixed(11))
    },
  }
}

const anyProvider = '*'
const nameOf = (provider: string | undefined, model: string) => `${provider ?? anyProvider} ${model}`

/** Tokens of a self-hosted model cost nothing, whoever made the model. */
const ownMachine = 'ollama'

/**
 * The host's own price (Bedrock's names identify it), or else the price of the model's maker, which hosts
 * usually charge.
 */
function findPrice(prices: ReadonlyMap<string, Price>, { model, provider }: PricedModel): Price | undefined {
  const names = namesOf(model)
  const named = bedrockPrefix.test(names[0] ?? '') ? 'bedrock' : null
  const given = provider?.toLowerCase()
  const ofMaker = given === ownMachine ? null : providerOfCall([model], null)
  const hosts = [anyProvider, named, given, ofMaker]
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

/** Names to look up a model by, the most exact first. */
function namesOf(model: string): string[] {
  const name = model.toLowerCase().replace(hostPrefix, '')
  const exact = [name, name.replace(revision, ''), name.replace(revision, '').replace(version, '')]
  const anywhere = exact.map((candidate) => candidate.replace(bedrockRegion, ''))
  return [...new Set([...exact, ...anywhere, ...anywhere.map((candidate) => candidate.replace(maker, ''))])]
}

/** Names of the standard tier: OpenAI and Bedrock, Anthropic, Groq and Google. */
const standardTiers: readonly string[] = ['default', 'standard', 'on_demand']
const usualGeos: readonly string[] = ['global', 'not_available']

/** Undefined if the table does not name it. An answer may contain any name, such as `constructor`. */
function timesOf<Times>(
  named: Readonly<Record<string, Times>> = {},
  name: string | null | undefined,
  usual: readonly string[],
): Times | 1 | undefined {
  if (name === null || name === undefined) return 1
  if (Object.hasOwn(named, name)) return named[name]
  return usual.includes(name) ? 1 : undefined
}

/**
 * Fees beside the tokens. Null: a fee is unknown. That includes any tool at a host without a price of its
 * own.
 */
function feesOf({ provider, uses = {}, call = 0 }: Price, used: PricedModel): number | null {
  const counts = Object.entries(used.uses ?? {}).filter(([, count]) => count > 0)
  const host = used.provider?.toLowerCase() ?? provider
  if (counts.length > 0 && provider !== undefined && host !== provider) return null
  return counts.reduce<number | null>((sum, [name, count]) => {
    const fee = Object.hasOwn(uses, name) ? uses[name] : undefined
    if (sum === null || fee === undefined) return null
    return sum + (typeof fee === 'number' ? count * fee : fee.per_call)
  }, call)
}
