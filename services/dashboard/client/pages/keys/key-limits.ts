import type { Item } from '../../api/call-api.ts'
import { formatCount, formatUsd } from '../../formats/format-number.ts'

export type Key = Item<'GET /api/projects/{id}/keys'>

/** What a key carries, as form values: an empty field is ''. */
export interface LimitValues {
  user: string
  team: string
  /** None: any model. */
  models: string[]
  capture: Key['capture']
  ratePerMinute: number | ''
  budgetUsd: number | ''
  whenUnknown: Key['when_unknown']
}

export const emptyLimits: LimitValues = {
  user: '',
  team: '',
  models: [],
  capture: 'full',
  ratePerMinute: '',
  budgetUsd: '',
  whenUnknown: 'stop',
}

export function readLimits(key: Key): LimitValues {
  return {
    user: key.user ?? '',
    team: key.team ?? '',
    models: key.models ?? [],
    capture: key.capture,
    ratePerMinute: key.rate_limit_per_minute ?? '',
    budgetUsd: key.monthly_budget_usd ?? '',
    whenUnknown: key.when_unknown,
  }
}

export function limitsBody(values: LimitValues) {
  const orNull = <V>(value: V | '') => (value === '' ? null : value)
  return {
    user: orNull(values.user.trim()),
    team: orNull(values.team.trim()),
    models: values.models.length === 0 ? null : values.models,
    capture: values.capture,
    rate_limit_per_minute: orNull(values.ratePerMinute),
    monthly_budget_usd: orNull(values.budgetUsd),
    when_unknown: values.whenUnknown,
  }
}

export const captureNames = {
  full: 'Everything',
  metadata: 'No prompts and answers',
  none: 'Nothing: calls are only counted',
} as const

const shownModels = 3

/** What a key may do and records, in a line each. */
export function limitLines(key: Key): string[] {
  const { models, capture, rate_limit_per_minute: rate } = key
  const more = (models ?? []).slice(shownModels).length
  return [
    ...(models === null
      ? []
      : [
          `Models: ${models.slice(0, shownModels).join(', ') || 'none'}${more > 0 ? ` and ${more} more` : ''}`,
        ]),
    ...(capture === 'full' ? [] : [`Records: ${captureNames[capture].toLowerCase()}`]),
    ...(rate === null ? [] : [`${formatCount(rate)} calls a minute`]),
  ]
}

/** `$1.20 of $20.00`; null without a budget. */
export function spentOf({ spent_usd: spent, monthly_budget_usd: budget }: Key): string | null {
  return budget === null ? null : `${formatUsd(spent)} of ${formatUsd(budget)}`
}
