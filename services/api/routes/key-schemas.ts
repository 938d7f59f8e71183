import { z } from 'zod'
import { captureLevels, unknownBudgetChoices } from '#schemas/key-limits.ts'
import { keyScopes } from '#http/access/principal.ts'
import { textField } from '#http/fields.ts'

export const scopeSchema = z.enum(keyScopes)

const maxModels = 200
const modelName = textField(256).regex(/^[^*]*\*?$/, 'must be a name, or a beginning that ends in *')

/** What a key may carry. Each is described once, for reading and writing. */
export const limitFields = {
  user: textField(256).nullable().describe('The user of its calls that name none.'),
  team: textField(256)
    .nullable()
    .describe('The metadata label `team` of its calls, unless they have one of their own.'),
  models: z
    .array(modelName)
    .max(maxModels)
    .nullable()
    .describe(
      'The models that it may call through a gateway: names, or beginnings that end in `*`. null: any.',
    ),
  capture: z
    .enum(captureLevels)
    .describe(
      '`full` records its calls; `metadata` without their bodies; `none` not at all: they are counted.',
    ),
  rate_limit_per_minute: z
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .nullable()
    .describe('Calls a minute through each process of a gateway; further ones get 429. null: any number.'),
  monthly_budget_usd: z
    .number()
    .min(0)
    .max(1e9)
    .nullable()
    .describe(
      'US dollars that its calls through gateways may cost in a calendar month (UTC); further ones get 429. null: any.',
    ),
  when_unknown: z
    .enum(unknownBudgetChoices)
    .describe('What happens to its calls while a gateway cannot learn what is left of the budget.'),
}

export const keySchema = z.object({
  id: z.string(),
  name: z.string(),
  label: z.string().nullable(),
  last4: z.string(),
  scope: scopeSchema,
  ...limitFields,
  spent_usd: z
    .number()
    .nullable()
    .describe('What its calls have cost this month, as gateways have said so far; null without a budget.'),
  reserved_usd: z
    .number()
    .nullable()
    .describe('What gateways hold beside it, for calls under way and to come; null without a budget.'),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
  expired: z.boolean().describe('Whether it is refused because `expires_at` has passed.'),
  last_used_at: z.iso.datetime().nullable(),
})

/** What a new key carries unless its creator says otherwise. */
export const newLimits = {
  user: null,
  team: null,
  models: null,
  capture: 'full',
  rate_limit_per_minute: null,
  monthly_budget_usd: null,
  when_unknown: 'stop',
} as const

export const newLimitFields = {
  user: limitFields.user.default(newLimits.user),
  team: limitFields.team.default(newLimits.team),
  models: limitFields.models.default(newLimits.models),
  capture: limitFields.capture.default(newLimits.capture),
  rate_limit_per_minute: limitFields.rate_limit_per_minute.default(newLimits.rate_limit_per_minute),
  monthly_budget_usd: limitFields.monthly_budget_usd.default(newLimits.monthly_budget_usd),
  when_unknown: limitFields.when_unknown.default(newLimits.when_unknown),
}

export const changeKeySchema = z.strictObject({ name: textField(200), ...limitFields }).partial()
