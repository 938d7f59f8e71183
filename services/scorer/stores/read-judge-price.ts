import { readFileSync } from 'node:fs'
import { createPriceTable, type Price } from '#capture/price-table.ts'
import type { JudgePrice } from '../judge/judge-price.ts'

const million = 1_000_000
/** In every model's short-context tier: some cost more from 128,000 tokens, which the judge never gets. */
const tokens = 1_000

/** The price of `model` in Sluice's price list (whose form another test checks), or null. */
export function readJudgePrice(file: string, model: string): JudgePrice | null {
  const { prices } = JSON.parse(readFileSync(file, 'utf8')) as { prices: Price[] }
  const table = createPriceTable(prices)
  const none = { prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0, reasoning_tokens: 0 }
  const priceOf = (counts: Partial<typeof none>) =>
    table.costOf({ model, provider: null }, { ...none, ...counts })
  const input = priceOf({ prompt_tokens: tokens })
  const cached = priceOf({ cached_tokens: tokens })
  const output = priceOf({ completion_tokens: tokens })
  if (input === null || cached === null || output === null) return null
  const perMillion = (usd: number) => (usd / tokens) * million
  return { input: perMillion(input), cachedInput: perMillion(cached), output: perMillion(output) }
}
