import { z } from 'zod'

export const tiers = ['free', 'pro', 'team', 'enterprise'] as const
export const tierSchema = z.enum(tiers)
export type Tier = z.infer<typeof tierSchema>

/** Requests a month (specification 8); null is unlimited. */
export const requestLimitOf: Readonly<Record<Tier, number | null>> = {
  free: 10_000,
  pro: 500_000,
  team: 5_000_000,
  enterprise: null,
}
