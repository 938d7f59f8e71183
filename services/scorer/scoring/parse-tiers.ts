import { parse } from 'yaml'
import { z } from 'zod'
import { tiers, type Tier } from '#schemas/tiers.ts'
import { builtInScorers, type BuiltInScorer } from '#schemas/verdicts.ts'

export type ScorersOfTier = Readonly<Record<Tier, readonly BuiltInScorer[]>>

const scorers = z
  .array(z.enum(builtInScorers))
  .refine((names) => new Set(names).size === names.length, 'duplicate scorer')
const schema = z.strictObject(
  Object.fromEntries(tiers.map((tier) => [tier, scorers])) as Record<Tier, typeof scorers>,
)

/** Parses tiers.yaml. Throws an Error that says what is wrong. */
export function parseTiers(yaml: string): ScorersOfTier {
  const parsed = schema.safeParse(parse(yaml))
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error))
  return parsed.data
}
