import { z } from 'zod'
import { tiers, type Tier } from '#schemas/tiers.ts'

/** The tier of each of the payment provider's prices. */
export interface TierPrices {
  priceOf(tier: Tier): string | undefined
  tierOf(price: string): Tier | undefined
}

/** `pro:price_…,team:price_…`; a tier may have several prices, of which the first is sold. */
export const tierPricesSchema = z
  .string()
  .default('')
  .transform((text, context): TierPrices => {
    const pairs = text.split(',').flatMap((part) => (part.trim() === '' ? [] : [pairOf(part)]))
    if (pairs.some(({ tier, price }) => tier === undefined || tier === 'free' || price === '')) {
      context.addIssue({
        code: 'custom',
        message: 'expected tier:price, comma-separated; the free tier has no price',
      })
    }
    const prices = pairs.map(({ price }) => price)
    if (new Set(prices).size !== prices.length) {
      context.addIssue({ code: 'custom', message: 'a price stands for one tier only' })
    }
    return {
      priceOf: (tier) => pairs.find((pair) => pair.tier === tier)?.price,
      tierOf: (price) => pairs.find((pair) => pair.price === price)?.tier,
    }
  })

function pairOf(part: string): { tier: Tier | undefined; price: string } {
  const colon = part.indexOf(':')
  const name = part.slice(0, colon).trim()
  return { tier: tiers.find((tier) => tier === name), price: part.slice(colon + 1).trim() }
}
