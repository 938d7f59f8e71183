import { bedrockPrefix, bedrockRegion, providerOfCall } from './providers.ts'
import { costOfTokens, type Rates, type TierTimes, type TokenCounts } from './token-cost.ts'

/** US dollars for each use of a tool that the provider hosts, or once for a call that used it. */
export type UseFee = number | { per_call: number }

/** What some models of one host cost. */
export interface Price extends Rates {
  /** Who is paid: the host, as `provider` of a call names it. Absent: whoever it is. */
  provider?: string | undefined
  /** In lower case, without what hosts put before a name and versions behind it. */
  models: readonly string[]
  /** The rates of a whole call that reads more than `above` tokens. */
  long?: (Rates & { above: number }) | undefined
  /** What the tokens of a call cost that another tier served, in times of these rates: `{"flex": 0.5}`. */
  tiers?: Readonly<Record<string, TierTimes>> | undefined
  /** The same for where it was served, as Anthropic's `inference_geo` names it. */
  inference_geo?: Readonly<Record<string, number>> | undefined
  /** What hosted tools cost beside the tokens, by their names in billed-parts.ts. */
  uses?: Readonly<Record<string, UseFee>> | undefined
  /** US dollars for every call beside the tokens: models that always search. */
  call?: number | undefined
}

export interface PriceTable {
  /**
   * US dollars; null when a price, or both token counts, are unknown: never 0 for that, and never the usual
   * price for another one.
   */
  costOf(call: PricedModel, tokens: TokenCounts): number | null
}

export interface PricedModel {
  model: string
  provider: string | null
  /** As the answer says it (service-tier.ts); absent or null: the standard one. */
  serviceTier?: string | null
  /** Where the call was served, by its answer; absent or null: anywhere. */
  inferenceGeo?: string | null
  /** How often each hosted tool was used (billed-parts.ts). */
  uses?: Readonly<Record<string, number>>
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
      const tier = timesOf(price.tiers, call.serviceTier, standardTiers)
      const geo = timesOf(price.inference_geo, call.inferenceGeo, usualGeos)
      const fees = feesOf(price, call)
      if (tier === undefined || geo === undefined || fees === null) return null
      const usd = costOfTokens(rates, tokens, tier)
      // Prices have at most five decimals a million tokens, so that eleven are exact but where a factor is
      // none; the rest is binary noise.
      return usd === null ? null : Number((geo * usd + fees).toFixed(11))
    },
  }
}

const anyProvider = '*'
const nameOf = (provider: string | undefined, model: string) => `${provider ?? anyProvider} ${model}`

/**
 * The host's own price (Bedrock's names say which it is), else that of the maker of the model, whose list
 * prices hosts commonly take.
 */
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

/** Names of the tier that the rates are of: OpenAI's and Bedrock's, Anthropic's, Groq's and Google's. */
const standardTiers: readonly string[] = ['default', 'standard', 'on_demand']
const usualGeos: readonly string[] = ['global', 'not_available']

/** Undefined: the table does not name it. An answer may name anything, `constructor` too. */
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
 * What is paid beside the tokens. Null: a tool was used whose fee is unknown, as are all of a host at the
 * prices of the model's maker.
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
